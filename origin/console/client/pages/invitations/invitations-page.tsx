/**
 * The invitations of a sale: their number, codes from a file, new links, and a button that makes earlier links void.
 */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { admin, read, send } from '../../api.ts'
import { count, instant, textIn } from '../../format.ts'
import { instantOf } from '../../local-time.ts'
import { Confirm, Copy, Failure, Loading, useSubmit, useTitle } from '../../parts.tsx'
import { may, shop } from '../../session.ts'
import { Effects } from '../../sheet/dialog.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Meter } from '../../sheet/marks.tsx'
import { Columns, Head, Section } from '../../sheet/page.tsx'
import type { Done } from '../../toast.tsx'
import { upload } from './upload.ts'

/** A browser has too little memory for many more links; programs make them by the API. */
const MOST_LINKS = 100_000
const DAY_SECONDS = 86_400

export function InvitationsPage({ sale }: { sale: string }) {
  const calls = admin.sales[':sale'].invitations
  const { data, error } = useQuery({
    queryKey: ['invitations', sale],
    queryFn: () => read(calls.$get({ param: { sale } })),
  })
  useTitle('Invitations · Console')
  return (
    <>
      <Head title="Invitations" sub="links count from their first use on" />
      <Failure error={error} />
      {!data && !error && <Loading />}
      {data && (
        <Section title="Came in by invitation" label="Codes">
          <p role="status">
            {data.invitations === 0
              ? 'There is no invitation yet.'
              : `${count(data.invitations)} ${data.invitations === 1 ? 'invitation' : 'invitations'} for ` +
                `${visitors(data.uses)}; ${count(data.used)} came in.`}
          </p>
          {data.invitations > 0 && (
            <Meter total={data.uses} shares={[{ name: 'came in', value: data.used, colour: '--c1' }]} />
          )}
        </Section>
      )}
      {may('operator') && (
        <Columns split="repeat(2, minmax(0, 1fr))">
          <Upload sale={sale} />
          <Links sale={sale} />
        </Columns>
      )}
    </>
  )
}

const visitors = (many: number) => `${count(many)} ${many === 1 ? 'visitor' : 'visitors'}`

function Upload({ sale }: { sale: string }) {
  const share = useSignal<number | null>(null)
  const file = useRef<HTMLInputElement>(null)
  const put = async (form: FormData): Promise<Done> => {
    const chosen = file.current?.files?.[0]
    if (!chosen) throw new Error('Choose a file.')
    const replaces = form.get('replace') === 'on'
    const path = `/admin/sales/${encodeURIComponent(sale)}/invitations?replace=${replaces}`
    try {
      const { imported, invitations } = await upload(path, chosen, (sent) => (share.value = sent))
      return { text: `${count(imported)} codes are read; the sale has ${count(invitations)} now.` }
    } finally {
      share.value = null
    }
  }
  const { onSubmit, error, isPending } = useSubmit(put, (form) => form.reset())
  return (
    <Section title="Codes from a file">
      <form class="stack" onSubmit={onSubmit}>
        <label class="label">
          File of codes
          <span class="field">
            <input ref={file} type="file" accept=".csv,.txt,.ndjson,.jsonl" required />
          </span>
          <small class="note">
            CSV (<code>code,uses</code>) or NDJSON: all of it or, where a line is wrong, none
          </small>
        </label>
        <label class="check">
          <input type="checkbox" name="replace" /> They take the place of all other codes
        </label>
        <p class="row">
          <button type="submit" class="btn" disabled={isPending}>
            <Icon name="in" />
            Upload
          </button>
          {share.value !== null && (
            <progress aria-label="Sent" value={share.value}>
              {Math.round(100 * share.value)} %
            </progress>
          )}
        </p>
        <Failure error={error} />
      </form>
    </Section>
  )
}

interface Made {
  readonly links: readonly string[]
  readonly uses: number
  readonly until: string
}

function Links({ sale }: { sale: string }) {
  const path = `/admin/sales/${encodeURIComponent(sale)}/invitations/links`
  const made = useSignal<Made | null>(null)
  const post = (json: object) =>
    send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) })
  const make = async (form: FormData): Promise<Done> => {
    const [many, uses, days] = ['count', 'uses', 'days'].map((name) => Number(form.get(name))) as [
      number,
      number,
      number,
    ]
    const valid_for_seconds = days * DAY_SECONDS
    const lines = (await (await post({ count: many, uses, valid_for_seconds })).text()).trimEnd().split('\n')
    const links = lines.map((line) => linkTo(sale, JSON.parse(line).invitation))
    made.value = { links, uses, until: new Date(Date.now() + 1000 * valid_for_seconds).toISOString() }
    return {
      text: `${count(links.length)} ${links.length === 1 ? 'link is' : 'links are'} made, each for ${visitors(uses)}.`,
    }
  }
  const endLinks = async (form: FormData): Promise<Done> => {
    const before = instantOf(textIn(form, 'before'))
    const { void_before } = await (await post({ void_before: before })).json()
    return { text: `Links made before ${instant(void_before)} let in nobody any more.` }
  }
  const { onSubmit, error, isPending } = useSubmit(make)
  return (
    <Section
      title="Links"
      aside={
        <Confirm
          action="Declare links void"
          look="bare"
          icon="ban"
          danger
          effect={
            <Effects
              effects={{
                stops: 'links made before this time (a later one counts as now) let in nobody any more',
                isKept: 'who came in by one keeps their place, and codes stay',
                undo: 'there is none, but new links can be made',
              }}
            />
          }
          onConfirm={endLinks}
        >
          <label class="label">
            Made before
            <span class="field">
              <input type="datetime-local" step="1" name="before" required />
            </span>
          </label>
        </Confirm>
      }
    >
      <p class="small quiet">
        Signed, and stored only once somebody comes in by them. They are shown now, and not again.
      </p>
      <form class="stack" onSubmit={onSubmit}>
        <div class="pairs">
          <NumberField name="count" label="Links" value={10} most={MOST_LINKS} />
          <NumberField name="uses" label="Visitors for each" value={1} most={1_000_000} />
          <NumberField name="days" label="Valid for days" value={30} most={366} />
        </div>
        <p class="row">
          <button type="submit" class="btn" disabled={isPending}>
            <Icon name="plus" />
            Make links
          </button>
        </p>
        <Failure error={error} />
      </form>
      {made.value && <MadeLinks sale={sale} {...made.value} />}
    </Section>
  )
}

/** The link for a mail. If the address of visitors' pages is unknown, it is only the part after the host. */
const linkTo = (sale: string, invitation: string) => `${shop.value ?? ''}/sales/${sale}?invitation=${invitation}`

function NumberField({ name, label, value, most }: { name: string; label: string; value: number; most: number }) {
  return (
    <label class="label">
      {label}
      <span class="field">
        <input type="number" name={name} min="1" max={most} required defaultValue={String(value)} />
      </span>
    </label>
  )
}

function MadeLinks({ sale, links, uses, until }: Made & { sale: string }) {
  const text = `${links.join('\n')}\n`
  const download = () => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
    const link = Object.assign(document.createElement('a'), { href: url, download: `invitations-${sale}.txt` })
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <div class="quote stack close" role="status">
      <p>
        {count(links.length)} {links.length === 1 ? 'link' : 'links'}, each for {visitors(uses)}, valid until{' '}
        {instant(until)}:
      </p>
      <p class="row">
        <button type="button" class="btn" onClick={download}>
          <Icon name="save" />
          Download
        </button>
        <Copy name="the links" text={text} />
      </p>
      <code>{links[0]}</code>
      {links.length > 1 && <p class="quiet">and {count(links.length - 1)} more</p>}
    </div>
  )
}
