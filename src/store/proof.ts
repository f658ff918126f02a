/** Whether the store is ready. Anybody may ask, and each proof costs a durable write: one per second is enough. */

const PROOF_MS = 1_000;

export function provedOnce(prove: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly ready: Promise<void> } | undefined;
  return () => {
    const now = performance.now();
    if (!last || now - last.at > PROOF_MS) last = { at: now, ready: prove() };
    return last.ready;
  };
}
