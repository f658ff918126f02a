/** What a program of ours gets from the environment of whoever tests or measures: nothing that is a setting. */

const PASSED_ON = ['PATH', 'HOME', 'NODE_COMPILE_CACHE'];

export function bareEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(PASSED_ON.map(name => [name, process.env[name]])), ...more };
}
