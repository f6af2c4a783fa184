/** The factor by which all limits are longer than usual (test/run/patience.ts). */
declare const __PATIENCE__: number
