/**
 * The check mark of a paid order in a ring like the comb. It is hidden from screen readers, because the words next to
 * it have the same meaning.
 */
import { html } from '../html.ts'

const TICKS = 48
const round = (value: number) => value.toFixed(1)

/** Every fourth ray is longer. */
const rays = Array.from({ length: TICKS }, (_, i) => {
  const angle = (i / TICKS) * 2 * Math.PI
  const at = (radius: number) => `${round(60 + radius * Math.cos(angle))} ${round(60 + radius * Math.sin(angle))}`
  return `M${at(40)}L${at(i % 4 === 0 ? 52 : 47)}`
}).join('')

export const done = html`<svg class="done" viewBox="0 0 120 120" aria-hidden="true" focusable="false"><path
  class="rays" d="${rays}" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"/><circle cx="60" cy="60"
    r="30" fill="currentColor"/><path class="tick" d="m47 61 9 9 17-19" fill="none" stroke="var(--paper)"
      stroke-width="5" stroke-linecap="round" stroke-linejoin="round"/></svg>`
