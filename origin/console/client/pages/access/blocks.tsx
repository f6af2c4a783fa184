/** The blocks of all sales. */

import { useSignal } from '@preact/signals'
import type { BlockState } from '../../../../../shared/api/operators/answers.ts'
import { admin } from '../../api.ts'
import { count, instant, textIn } from '../../format.ts'
import { Confirm } from '../../parts.tsx'
import { may } from '../../session.ts'
import { SearchField } from '../../sheet/controls.tsx'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { EmptyState, Section } from '../../sheet/page.tsx'
import { Table } from '../../sheet/table.tsx'
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
    <Section
      title="Blocked in all sales"
      label="Blocks"
      aside={
        may('operator') && (
          <Confirm
            action="Block somebody"
            icon="lock"
            danger
            effect={
              <Effects
                effects={{
                  stops: 'they can join no sale, and lose their place',
                  goesOn: 'what a blocked visitor or account holds goes back on sale; what is being paid is finished',
                  undo: 'remove the block',
                }}
              />
            }
            onConfirm={add}
          >
            <label class="label">
              Whom
              <span class="field">
                <select name="kind">
                  {KINDS.map(([kind, text]) => (
                    <option key={kind} value={kind}>
                      {text}
                    </option>
                  ))}
                </select>
              </span>
            </label>
            <label class="label">
              As it is written in orders and logs
              <span class="field">
                <input name="who" required maxLength={200} autocomplete="off" spellcheck={false} />
              </span>
            </label>
            <label class="label">
              Note, for the records
              <span class="field">
                <input name="note" maxLength={200} autocomplete="off" />
              </span>
            </label>
          </Confirm>
        )
      }
    >
      {blocks.length === 0 ? (
        <EmptyState text="Nobody is blocked." />
      ) : (
        <>
          <SearchField
            label="Search"
            placeholder="Who, or a word of the note"
            value={words.value}
            onInput={(value) => (words.value = value)}
          />
          <p class="small quiet" role="status">
            {count(found.length)} of {count(blocks.length)}
            {found.length > SHOWN && `, the latest ${SHOWN} are shown`}
          </p>
        </>
      )}
      {found.length > 0 && (
        <Table
          label="Blocked"
          rows={found.slice(0, SHOWN)}
          keyOf={({ block: id }) => id}
          columns={[
            { name: 'Mark', unnamed: true, phone: 'a', cell: () => <Icon name="lock" /> },
            { name: 'Who', cell: (one) => <b>{whoOf(one)}</b> },
            { name: 'Note', phone: 'z', cell: ({ note }) => note },
            {
              name: 'Since',
              number: true,
              wide: true,
              cell: ({ blocked_at }) => <time dateTime={blocked_at}>{instant(blocked_at)}</time>,
            },
            ...(may('operator')
              ? [
                  {
                    name: 'Acts',
                    unnamed: true,
                    number: true,
                    phone: 'z' as const,
                    cell: (one: BlockState) => <Unblock one={one} />,
                  },
                ]
              : []),
          ]}
        />
      )}
    </Section>
  )
}

const Unblock = ({ one }: { readonly one: BlockState }) => (
  <Confirm
    action="Remove"
    name={`Remove the block of ${whoOf(one)}`}
    look="bare"
    effect={
      <Effects
        effects={{
          goesOn: `${whoOf(one)} can join again`,
          stops: 'a place that was lost stays lost',
          undo: 'block them again',
        }}
      />
    }
    onConfirm={() => {
      const { block: id, blocked_at: _, ...removed } = one
      return unblock(id, removed, `The ${whoOf(one)}`)
    }}
  />
)

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
