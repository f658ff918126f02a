/**
 * Carries out one command of the program after the other, for tests that run hundreds: half of what a command takes is
 * the start of a process (0.2 of 0.4 s of a core, 2026-11-17). Each is the program anew, with its own arguments and
 * environment, on modules that are loaded already.
 */

// Each command listens there for as long as its process lives.
for (const one of [process, process.stdout, process.stderr]) one.setMaxListeners(0);
process.on('disconnect', () => process.exit());

process.on('message', async ({ program, args, env }) => {
  const said = { stdout: '', stderr: '' };
  const written = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr']) {
    process[name].write = (text, ...rest) => {
      said[name] += text;
      rest.findLast(one => typeof one === 'function')?.();
      return true;
    };
  }
  process.env = { ...env };
  process.argv = [process.execPath, program, ...args];
  process.exitCode = 0;
  let fault;
  // Its first lines run again only under another address.
  await import(`${program}?${performance.now()}`).catch(error => {
    fault = String(error.stack);
  });
  Object.assign(process.stdout, { write: written.stdout });
  Object.assign(process.stderr, { write: written.stderr });
  process.send({ ...said, code: fault ? 1 : process.exitCode, stderr: said.stderr + (fault ?? '') });
});
