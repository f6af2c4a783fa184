/**
 * The dialog to announce something in a sale: one text with the other languages folded, how loud it is, a phone that
 * shows it, and what was said before.
 */
import { useSignal } from '@preact/signals'
import { useQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import type { AnnouncementRequest, PostRequest } from '../../../../../shared/api/operators/requests.ts'
import { admin, read } from '../../api.ts'
import { Confirm, count, Failure, languageName, time, useSubmit } from '../../parts.tsx'
import { may, shop } from '../../session.ts'
import { Options, Segmented } from '../../sheet/controls.tsx'
import { Dialog } from '../../sheet/dialog.tsx'
import { Icon, Keys } from '../../sheet/icon.tsx'
import { Bars, State as Tag } from '../../sheet/marks.tsx'
import type { Done } from '../../toast.tsx'
import type { NoticeControl } from '../sale/controls.tsx'
import { mainLanguage, type Readers, readings } from '../sale/readers.ts'
import type { State } from '../sale/sale-actions.ts'
import { useReaders } from '../sale/texts.tsx'
import './announce.css'

const calls = admin.sales[':sale']

/** `before` is the announcement that visitors read until now. */
async function announce(
  state: State,
  announcement: AnnouncementRequest | null,
  before: AnnouncementRequest | null,
): Promise<Done> {
  const param = { sale: state.sale }
  if (announcement === null) await calls.announcement.$delete({ param })
  else await calls.announcement.$put({ param, json: { level: announcement.level, text: announcement.text } })
  const text = announcement === null ? 'Visitors no longer see the announcement.' : 'Visitors read the announcement.'
  return { text, undo: () => announce(state, before, announcement) }
}

async function post(state: State, text: PostRequest['text']): Promise<Done> {
  const { n } = await read(calls.feed.$post({ param: { sale: state.sale }, json: { text, urgent: false } }))
  const undo = async () => {
    await calls.feed[':n'].$delete({ param: { sale: state.sale, n: String(n) } })
    return { text: 'The post is taken away.' }
  }
  return { text: 'The post is in the feed.', undo }
}

/** Where the text is shown, and how it looks there. */
type Loudness = 'feed' | 'info' | 'warning'

export const AnnounceButtons: NoticeControl = ({ state, place, waiting }) => {
  const isOpen = useSignal(false)
  const { announcement } = state
  if (!may('operator')) return null
  const inHead = place === 'head'
  return (
    <>
      {(inHead || announcement === null) && (
        <button
          type="button"
          class={inHead ? 'btn' : 'btn bare'}
          aria-keyshortcuts={inHead ? 'A' : undefined}
          onClick={() => (isOpen.value = true)}
        >
          <Icon name="horn" />
          {inHead ? 'Announce' : 'Write something'}
        </button>
      )}
      {!inHead && announcement && (
        <>
          <button type="button" class="btn bare" onClick={() => (isOpen.value = true)}>
            <Icon name="horn" />
            Change
          </button>
          <Confirm
            action="Take it away"
            icon="undo"
            look="bare"
            effect="Visitors no longer see the announcement. It stays in the feed. Undo: announce it again."
            onConfirm={() => announce(state, null, announcement)}
          />
        </>
      )}
      <Dialog
        title={`Announce in ${state.name}`}
        sub={waiting === null ? 'Whoever waits reads it within three seconds.' : audienceOf(waiting)}
        broad
        isOpen={isOpen.value}
        onClose={() => (isOpen.value = false)}
      >
        <Write state={state} onDone={() => (isOpen.value = false)} />
      </Dialog>
    </>
  )
}

const audienceOf = (waiting: number) =>
  waiting === 0
    ? 'Nobody waits now; whoever comes reads it.'
    : `${count(waiting)} who wait read it within three seconds.`

function Write({ state, onDone }: { readonly state: State; readonly onDone: () => void }) {
  const readers = useReaders(state.sale)
  const main = mainLanguage(readers)
  /** What was chosen by hand; otherwise the language of most visitors comes first. */
  const chosen = useSignal<string | null>(null)
  const other = useSignal<string>('de')
  const shown = useSignal<string | null>(null)
  const first = chosen.value ?? main
  const seen = shown.value ?? first
  const loudness = useSignal<Loudness>('info')
  const texts = useSignal<Readonly<Record<string, string>>>({})
  const form = useRef<HTMLFormElement>(null)
  const written = Object.fromEntries(Object.entries(texts.value).filter(([, text]) => text.trim() !== ''))
  const others = LANGUAGES.filter((language) => language !== first)
  const shownOther = other.value === first ? (others[0] ?? first) : other.value
  const set = (language: string, text: string) => (texts.value = { ...texts.value, [language]: text })
  const { onSubmit, error, isPending } = useSubmit(async () => {
    const text = written as PostRequest['text']
    if (loudness.value === 'feed') return post(state, text)
    return announce(state, { level: loudness.value, text }, state.announcement)
  }, onDone)
  const read = written[seen] ?? written[first] ?? Object.values(written)[0] ?? ''
  const inOthers = others.filter((language) => written[language] !== undefined)
  return (
    <form
      ref={form}
      class="announce"
      onSubmit={onSubmit}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
      }}
    >
      <div class="stack">
        <div class="stack close">
          <label class="row small pick-line">
            Text, in
            <span class="field pick">
              <select
                aria-label="Language of the text"
                value={first}
                onChange={({ currentTarget }) => {
                  chosen.value = currentTarget.value
                  shown.value = null
                }}
              >
                {LANGUAGES.map((language) => (
                  <option key={language} value={language}>
                    {languageName(language)}
                  </option>
                ))}
              </select>
            </span>
          </label>
          <label class="field">
            <span class="unseen">Text</span>
            <textarea
              rows={2}
              maxLength={500}
              lang={first}
              dir="auto"
              autofocus
              value={texts.value[first] ?? ''}
              onInput={({ currentTarget }) => set(first, currentTarget.value)}
            />
          </label>
          <p class="small quiet">{(texts.value[first] ?? '').length} of 500; plain words, no links</p>
        </div>
        <WhoReads readers={readers} written={Object.keys(written)} />
        <details class="tongues">
          <summary>
            Other languages
            <span class="quiet">
              :{' '}
              {inOthers.length === 0
                ? 'none is written; they read the text above'
                : `${inOthers.map(languageName).join(', ')} is written`}
            </span>
          </summary>
          <div class="stack close">
            <Segmented
              label="Other language"
              value={shownOther}
              options={others.map((one) => [one as string, one.toUpperCase(), languageName(one)] as const)}
              onChoose={(one) => (other.value = one)}
            />
            <label class="field">
              <span class="unseen">Text in {languageName(shownOther)}</span>
              <textarea
                rows={2}
                maxLength={500}
                lang={shownOther}
                dir="auto"
                value={texts.value[shownOther] ?? ''}
                onInput={({ currentTarget }) => set(shownOther, currentTarget.value)}
              />
            </label>
          </div>
        </details>
        <Options<Loudness>
          legend="How loud"
          name="loud"
          value={loudness.value}
          options={[
            ['feed', 'In the feed', 'among the shop’s posts'],
            ['info', 'On top', 'of every page, until the next one or until it is taken away'],
            ['warning', 'On top, as a warning', 'in the colour of what is held'],
          ]}
          onChoose={(one) => (loudness.value = one)}
        />
      </div>
      <div class="stack close">
        <div class="row small no-wrap">
          <span class="quiet read-in">They read</span>
          <span class="end">
            <Segmented
              label="Preview in"
              value={seen}
              options={LANGUAGES.map(
                (one) => [one as string, one.toUpperCase(), `Preview in ${languageName(one)}`] as const,
              )}
              onChoose={(one) => (shown.value = one)}
            />
          </span>
        </div>
        <Phone text={read} language={written[seen] === undefined ? first : seen} loudness={loudness.value} />
      </div>
      <Before state={state} />
      <Failure error={error} />
      <footer class="row ends">
        <span class="small quiet undo">Undo: take it away. Who has read it has read it.</span>
        <button type="button" class="btn tall" onClick={onDone}>
          Go back
        </button>
        <button type="submit" class="btn primary tall" disabled={isPending}>
          <Icon name="horn" />
          Announce now
          <Keys class="wide">Ctrl ⏎</Keys>
        </button>
      </footer>
    </form>
  )
}

/** A language without a text of its own reads another one. */
function WhoReads({ readers, written }: { readonly readers: Readers; readonly written: readonly string[] }) {
  const rows = readings(readers, written)
  if (rows.length === 0) return null
  return (
    <div class="stack close">
      <p class="row small tight-row">
        <b>Who reads what</b>
        <span class="quiet">of all who have looked at the sale</span>
      </p>
      <Bars
        rows={rows.map(({ language, forWant, people }) => [
          forWant ? `${languageName(language)}, for want of theirs` : languageName(language),
          people,
        ])}
      />
    </div>
  )
}

interface PhoneProps {
  readonly text: string
  readonly language: string
  readonly loudness: Loudness
}

/** A drawing of a visitor's phone, in the buyers' own colours. */
function Phone({ text, language, loudness }: PhoneProps) {
  const told = text !== '' && (
    <p class={loudness === 'warning' ? 'told warning' : 'told'} lang={language} dir="auto">
      {text}
    </p>
  )
  return (
    <div class="buyer-phone" role="img" aria-label="A visitor’s phone with the announcement and the place in line">
      <div class="glass" aria-hidden="true">
        <p class="small">
          <b>{shop.value === null ? 'Shop' : new URL(shop.value).host}</b>
        </p>
        {loudness !== 'feed' && told}
        <p>
          <b>You are in line</b>
        </p>
        <p class="ahead">3,184</p>
        <p class="quiet small">people ahead of you</p>
        {loudness === 'feed' && told}
      </div>
    </div>
  )
}

const REFRESH_MS = 5_000
const SHOWN = 5

/** The earlier posts and announcements, so that nothing is said twice. */
function Before({ state }: { readonly state: State }) {
  const { data } = useQuery({
    queryKey: ['feed', state.sale],
    queryFn: () => read(calls.feed.$get({ param: { sale: state.sale } })),
    refetchInterval: REFRESH_MS,
  })
  const posts = data?.posts ?? []
  return (
    <section class="read-before stack close" aria-label="Posts">
      <p class="row small">
        <b>Posts</b>
        <span class="quiet">{count(posts.length)}</span>
        {shop.value !== null && (
          <a class="end" href={`${shop.value}/sales/${state.sale}/posts`} target="_blank" rel="noreferrer">
            As visitors see them
          </a>
        )}
      </p>
      <ol class="posts">
        {posts.slice(0, SHOWN).map(({ n, at, operator, text, shown, removed_at }) => (
          <li key={n} class={removed_at === null ? '' : 'gone'}>
            <p class="row small quiet tight-row">
              {shown && <Tag level="info">On top now</Tag>}
              <span>
                {time(at)}, {operator}
              </span>
              {removed_at !== null && <span>taken away {time(removed_at)}</span>}
            </p>
            <p dir="auto">{text.en ?? Object.values(text)[0]}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}
