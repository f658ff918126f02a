/** Made by scripts/build-console.ts. */
declare module 'virtual:reference' {
  const reference: import('./shown.ts').ShownReference;
  export default reference;
}
