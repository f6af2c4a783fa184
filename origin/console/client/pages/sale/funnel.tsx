/** The people from joining to paying: its height is their number, and each step says what became of the others. */
import type { ComponentChildren } from 'preact'
import { count, figure } from '../../format.ts'
import { Section } from '../../sheet/page.tsx'
import { type Live, totals } from './live-stream.ts'

const WIDTH = 250
/** Each step is darker than the one before. */
const SHADES = [32, 52, 74, 100] as const
/** The part of a step in which its height passes into the next. */
const EASE = 50

export function Funnel({ live }: { readonly live: Live }) {
  const { joined, waiting, called, arrived, may_come, did_not_come, reserved, paid } = live.funnel
  const all = totals(live)
  const lost = (all.expired ?? 0) + (all.cancelled ?? 0)
  const didNotPay = Math.min(Math.max(0, reserved - paid), lost)
  const paying = Math.max(0, reserved - paid - didNotPay)
  const steps = [
    ['Called', called],
    ['Arrived', arrived],
    ['Reserved', reserved],
    ['Paid', paid],
  ] as const
  const losses = [
    [share(did_not_come, called), `${shareText(did_not_come, called)} did not come`],
    [share(didNotPay, reserved), `${shareText(didNotPay, reserved)} did not pay`],
  ] as const
  const [worst, worstText] = losses.toSorted(([a], [b]) => b - a)[0] ?? [0, '']
  return (
    <Section
      title="From joining to paying"
      class="fill"
      aside={worst > 0 && <span class="tag">Worst loss: {worstText}</span>}
    >
      <FunnelDrawing
        reach={
          <>
            <span>
              <b>{count(joined)}</b> joined
            </span>
            <span>
              <b>{waiting === null ? '–' : count(waiting)}</b> wait
            </span>
          </>
        }
        steps={steps}
      >
        <p class="small">
          {did_not_come !== null && may_come !== null && (
            <>
              <b>{count(did_not_come)}</b> did not come
              <br />
              <span class="quiet">{count(may_come)} may still come</span>
            </>
          )}
        </p>
        <p class="small">
          {arrived !== null && (
            <>
              <b>{count(Math.max(0, arrived - reserved))}</b> chose nothing yet
              <br />
              <span class="quiet">or left</span>
            </>
          )}
        </p>
        <p class="small">
          <b>{count(didNotPay)}</b> did not pay
          <br />
          <span class="quiet">{count(paying)} are paying</span>
        </p>
        <p class="small quiet">{paid > 0 && `${figure((100 * paid) / Math.max(1, joined))} % of all who joined`}</p>
      </FunnelDrawing>
    </Section>
  )
}

interface DrawingProps {
  /** What stands above: who could have been called. */
  readonly reach: ComponentChildren
  readonly steps: readonly (readonly [name: string, value: number | null])[]
  /** A note below each step. */
  readonly children: ComponentChildren
}

export const FunnelDrawing = ({ reach, steps, children }: DrawingProps) => (
  <div class="funnel">
    <p class="reach row">{reach}</p>
    {steps.map(([name, value]) => (
      <dl key={name}>
        <dt>{name}</dt>
        <dd>{value === null ? '–' : count(value)}</dd>
      </dl>
    ))}
    <svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
      {shapes(steps.map(([, value]) => value ?? 0)).map((d, i) => (
        <path key={d} fill={`color-mix(in srgb, var(--c1) ${SHADES[i]}%, var(--track))`} d={d} />
      ))}
    </svg>
    {children}
  </div>
)

const share = (part: number | null, of: number | null) => (part === null || !of ? 0 : part / of)
const shareText = (part: number | null, of: number | null) => `${figure(100 * share(part, of))} %`

/** A shape for each step, as high as its number, that passes into the next one. */
function shapes(values: readonly number[]): string[] {
  const most = Math.max(1, ...values)
  const top = (value: number) => 50 - (50 * value) / most
  return values.map((value, i) => {
    const [x, from, to] = [i * WIDTH, top(value), top(values[i + 1] ?? value)]
    const [bend, end] = [x + WIDTH - EASE, x + WIDTH]
    const middle = (bend + end) / 2
    return (
      `M${x} ${from}H${bend}C${middle} ${from} ${middle} ${to} ${end} ${to}V${100 - to}` +
      `C${middle} ${100 - to} ${middle} ${100 - from} ${bend} ${100 - from}H${x}z`
    )
  })
}
