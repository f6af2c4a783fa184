/** What a visitor goes through, as a line of stages; the widths are no times. */
import type { Stage } from './outlook.ts'

const COLOURS: Readonly<Record<Stage['name'], string | undefined>> = {
  Lobby: '--c: var(--c3)',
  Draw: '--c: var(--ink)',
  Line: '--c: var(--c2)',
  'Last turns': '--c: var(--c1)',
  Over: undefined,
}

/** The stage in which a sale is, by its phase. */
const AT: Readonly<Record<string, Stage['name']>> = {
  upcoming: 'Lobby',
  open: 'Line',
  paused: 'Line',
  all_in_carts: 'Last turns',
  sold_out: 'Over',
  ended: 'Over',
}

export const Stages = ({ stages, phase }: { readonly stages: readonly Stage[]; readonly phase: string }) => (
  <ol class="tl" aria-label="What a visitor goes through">
    {stages.map(({ name, text }) => (
      <li key={name} style={COLOURS[name]} aria-current={AT[phase] === name ? 'step' : undefined}>
        <b>{name}</b>
        <span class="quiet">{text}</span>
      </li>
    ))}
  </ol>
)
