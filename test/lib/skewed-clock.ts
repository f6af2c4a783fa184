/** A process preloads this file (`node --import`) to make its clock wrong by CLOCK_SKEW_MS. */
const skewMs = Number(process.env.CLOCK_SKEW_MS)
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...args: [] | ConstructorParameters<typeof RealDate>) {
    if (args.length === 0) super(RealDate.now() + skewMs)
    else super(...(args as ConstructorParameters<typeof RealDate>))
  }

  static override now(): number {
    return RealDate.now() + skewMs
  }
} as DateConstructor
