/** A button that copies the figures of a moment as text, to send to somebody who can act. */
import { useSignal } from '@preact/signals'
import { count, moment } from '../../format.ts'
import { unitsSum } from '../../parts.tsx'
import { Icon } from '../../sheet/icon.tsx'
import type { Live } from './live-stream.ts'

const COPIED_MS = 2_000

/** What the page shows now, in a few lines. */
function momentOf({ state, summary, funnel, read_at }: Live): string {
  const { sold, held, available: free, buffer: withheld, total } = state.invariant
  const known = (value: number | null) => (value === null ? 'not known' : count(value))
  return [
    `${state.name} (${state.sale}), ${moment(read_at)}`,
    summary.text,
    ...summary.needs.map(({ what, advice }) => `- ${what} ${advice}`),
    unitsSum({ sold, held, free, withheld, total }),
    `${known(funnel.waiting)} wait, ${known(funnel.called)} called, ${known(funnel.arrived)} arrived, ` +
      `${count(funnel.reserved)} reserved, ${count(funnel.paid)} paid`,
  ].join('\n')
}

export function CopyMoment({ live }: { readonly live: Live }) {
  const isCopied = useSignal(false)
  // A page may write to the clipboard only over https, or on this machine.
  if (!navigator.clipboard) return null
  const copy = async () => {
    await navigator.clipboard.writeText(momentOf(live))
    isCopied.value = true
    setTimeout(() => (isCopied.value = false), COPIED_MS)
  }
  return (
    <button type="button" class="btn" onClick={() => void copy()}>
      <Icon name="copy" />
      {isCopied.value ? 'Copied' : 'Copy this moment'}
    </button>
  )
}
