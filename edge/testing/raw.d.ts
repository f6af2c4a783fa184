/** A file as text, by Vite. */
declare module '*?raw' {
  const text: string
  export default text
}

/** How many times as long as usual everything may take (test/run/patience.ts). */
declare const __PATIENCE__: number
