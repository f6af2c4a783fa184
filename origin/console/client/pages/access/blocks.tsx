/** The blocks of all sales. */

import { useSignal } from '@preact/signals'
import type { BlockState } from '../../../../../shared/api/operators/answers.ts'
import { admin } from '../../api.ts'
import { Confirm, count, instant, textIn } from '../../parts.tsx'
import { may } from '../../session.ts'
import type { Done } from '../../toast.tsx'

/** The list shows at most this many blocks; the search finds the others. */
const SHOWN = 100
const KINDS = [
  ['address', 'Network address or range'],
  ['account', 'Account of the shop'],
  ['visitor', 'Visitor'],
  ['order', 'Whoever made this order'],
] as const

export function Blocks({ blocks }: { blocks: readonly BlockState[] }) {
  const words = useSignal('')
  const found = blocks
    .filter((one) => `${whoOf(one)} ${one.note}`.toLowerCase().includes(words.value.trim().toLowerCase()))
    .toReversed()
  const add = (form: FormData) => {
    const [kind, who] = [textIn(form, 'kind'), textIn(form, 'who')]
    return block({ [kind]: who, note: textIn(form, 'note') }, `The ${kind} ${who}`)
  }
  return (
    <section class="sec" aria-label="Blocks">
      <div class="card-head">
        <h2>Blocked in all sales</h2>
        {may('operator') && (
          <Confirm
            action="Block somebody"
            danger
            effect={
              'They can join no sale, and lose their place. What a blocked visitor or account holds goes back on ' +
              'sale; what is being paid is finished. Undo: remove the block.'
            }
            onConfirm={add}
          >
            <label>
              Whom
              <select name="kind">
                {KINDS.map(([kind, text]) => (
                  <option key={kind} value={kind}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <label>
              As it is written in orders and logs
              <input name="who" required maxLength={200} autocomplete="off" spellcheck={false} />
            </label>
            <label>
              Note, for the records
              <input name="note" maxLength={200} autocomplete="off" />
            </label>
          </Confirm>
        )}
      </div>
      {blocks.length > 0 && (
        <label class="sales-search">
          Search
          <input type="search" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
        </label>
      )}
      <p class="quiet" role="status">
        {blocks.length === 0
          ? 'Nobody is blocked.'
          : `${count(found.length)} of ` +
            `${count(blocks.length)}${found.length > SHOWN ? `, the latest ${SHOWN} are shown` : ''}`}
      </p>
      <ul class="rules">
        {found.slice(0, SHOWN).map((one) => (
          <li key={one.block}>
            <div>
              <b>{whoOf(one)}</b>
              {one.note !== '' && <p>{one.note}</p>}
            </div>
            <time class="met" dateTime={one.blocked_at}>
              {instant(one.blocked_at)}
            </time>
            {may('operator') && (
              <p class="buttons">
                <Confirm
                  action="Remove"
                  name={`Remove the block of ${whoOf(one)}`}
                  effect={`${whoOf(one)} can join again; a place that was lost stays lost. Undo: block them again.`}
                  onConfirm={() => {
                    const { block: id, blocked_at: _, ...removed } = one
                    return unblock(id, removed, `The ${whoOf(one)}`)
                  }}
                />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function whoOf({ visitor, account, address }: BlockState): string {
  if (address !== undefined) return `address ${address}`
  return account === undefined ? `visitor ${visitor}` : `account ${account}`
}

type Block = Parameters<typeof admin.blocks.$post>[0]['json']

/** Each of the two actions reports its result and offers the other one as its undo. */
export async function block(added: Block, who: string): Promise<Done> {
  const { block: id } = await (await admin.blocks.$post({ json: added })).json()
  return { text: `${who} can join no sale.`, undo: () => unblock(id, added, who) }
}

export async function unblock(id: string, removed: Block, who: string): Promise<Done> {
  await admin.blocks[':block'].$delete({ param: { block: id } })
  return { text: `${who} can join again.`, undo: () => block(removed, who) }
}
