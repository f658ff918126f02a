/**
 * Node's own `http`. An import would read every member of it, `WebSocket` among them, whose code takes 60 ms of processor
 * time of each start, in each worker (Node 24.21, 2026-11-17).
 */

export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
