/**
 * Writes or edits a post: one text with the other languages folded, who reads which, how loud it is, until when it is
 * on top, and a phone that shows it.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { LANGUAGES } from '../../../../../shared/api/fields.ts'
import type { AnnouncementRequest, PostRequest } from '../../../../../shared/api/operators/requests.ts'
import { languageName } from '../../format.ts'
import { instantOf, localOf, ZONE } from '../../local-time.ts'
import { Failure, useSubmit } from '../../parts.tsx'
import { Labelled, Options, Segmented } from '../../sheet/controls.tsx'
import { Icon, Keys } from '../../sheet/icon.tsx'
import { Bars } from '../../sheet/marks.tsx'
import { shownAt } from '../../sheet/picture.tsx'
import { AddPicture } from '../goods/picture-fields.tsx'
import { mainLanguage, type Readers, readings } from '../sale/readers.ts'
import { useReaders } from '../sale/texts.tsx'
import { announce, edit, type Post, publish } from './feed-calls.ts'
import { type Loudness, Phone } from './phone.tsx'

const MINUTE_MS = 60_000
/** A post on top until a time stays there this long, unless another time is typed. */
const ON_TOP_MINUTES = 15

interface WriteProps {
  readonly sale: string
  /** What visitors read now, which an undoing brings back. */
  readonly before: AnnouncementRequest | null
  /** The post to edit; left out for a new one. */
  readonly post?: Post
  /** Stands beside the form: what was said before. */
  readonly beside?: ComponentChildren
  readonly startsIn?: Loudness
  onDone(): void
}

export function Write({ sale, before, post, beside, startsIn = 'info', onDone }: WriteProps) {
  const readers = useReaders(sale)
  const main = post ? mainOf(post) : mainLanguage(readers)
  /** What was chosen by hand; otherwise the language of most visitors comes first. */
  const chosen = useSignal<string | null>(null)
  const other = useSignal<string>('de')
  const shown = useSignal<string | null>(null)
  const first = chosen.value ?? main
  const seen = shown.value ?? first
  const loudness = useSignal<Loudness>(post ? loudnessOf(post) : startsIn)
  const ends = useSignal<'next' | 'time'>(post?.shown && post.until !== null ? 'time' : 'next')
  const until = useSignal(localOf(post?.until ?? new Date(inMinutes(ON_TOP_MINUTES)).toISOString()))
  const texts = useSignal<Readonly<Record<string, string>>>(post ? { ...post.text } : {})
  const picture = useSignal<{ readonly url: string; readonly alt?: string } | null>(post?.image ?? null)
  const form = useRef<HTMLFormElement>(null)
  const written = Object.fromEntries(Object.entries(texts.value).filter(([, text]) => text.trim() !== ''))
  const others = LANGUAGES.filter((language) => language !== first)
  const shownOther = other.value === first ? (others[0] ?? first) : other.value
  const set = (language: string, text: string) => (texts.value = { ...texts.value, [language]: text })
  const { onSubmit, error, isPending } = useSubmit(async (data) => {
    const text = written as PostRequest['text']
    const image = picture.value && { url: picture.value.url, alt: String(data.get('alt') ?? '') }
    const end = loudness.value !== 'feed' && ends.value === 'time' ? instantOf(until.value) : null
    if (post) return edit(sale, post, changeOf(post, { text, image, loudness: loudness.value, end }))
    if (loudness.value === 'feed') return publish(sale, { text, urgent: false, ...(image && { image }) })
    const { value: level } = loudness
    return announce(sale, { level, text, ...(end !== null && { until: end }) }, before)
  }, onDone)
  const read = written[seen] ?? written[first] ?? Object.values(written)[0] ?? ''
  const inOthers = others.filter((language) => written[language] !== undefined)
  return (
    <form
      ref={form}
      class={beside === undefined ? 'announce two' : 'announce'}
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
          options={optionsOf(post)}
          onChoose={(one) => (loudness.value = one)}
        />
        {loudness.value !== 'feed' && (
          <Options
            legend="On top until"
            name="until"
            value={ends.value}
            options={[
              ['next', 'The next one', 'or until it is taken away'],
              ['time', 'A time', 'then it stays in the feed'],
            ]}
            onChoose={(one) => (ends.value = one)}
          />
        )}
        {loudness.value !== 'feed' && ends.value === 'time' && (
          <Labelled
            label="The time"
            note={ZONE}
            input={{
              type: 'datetime-local',
              step: '1',
              required: true,
              value: until.value,
              onInput: ({ currentTarget }) => (until.value = currentTarget.value),
            }}
          />
        )}
        {(loudness.value === 'feed' || picture.value !== null) && (
          <PictureField picture={picture.value} onPicture={(next) => (picture.value = next)} />
        )}
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
      {beside}
      <Failure error={error} />
      <footer class="row ends">
        <span class="small quiet undo">
          {post ? 'Undo: change it back. Open pages have it within seconds.' : 'Undo: retract it.'} Who has read it has
          read it.
        </span>
        <button type="button" class="btn tall" onClick={onDone}>
          Go back
        </button>
        <button type="submit" class="btn primary tall" disabled={isPending}>
          <Icon name={post ? 'edit' : 'horn'} />
          {post ? 'Change the post' : loudness.value === 'feed' ? 'Publish' : 'Announce now'}
          <Keys class="wide">Ctrl ⏎</Keys>
        </button>
      </footer>
    </form>
  )
}

const inMinutes = (minutes: number) => Math.ceil(Date.now() / (5 * MINUTE_MS)) * 5 * MINUTE_MS + minutes * MINUTE_MS
const mainOf = ({ text }: Post) => LANGUAGES.find((language) => text[language] !== undefined) ?? 'en'
const loudnessOf = ({ shown, level }: Post): Loudness => (shown ? (level ?? 'warning') : 'feed')

/** A post keeps its level, since pages have shown it in that colour. */
function optionsOf(post: Post | undefined): readonly (readonly [Loudness, string, string])[] {
  const all = [
    ['feed', 'In the feed', 'among the shop’s posts'],
    ['info', 'On top', 'of every page'],
    ['warning', 'On top, as a warning', 'in the colour of what is held'],
  ] as const
  return post ? all.filter(([loudness]) => loudness === 'feed' || loudness === (post.level ?? 'warning')) : all
}

interface Wanted {
  readonly text: PostRequest['text']
  readonly image: PostRequest['image'] | null
  readonly loudness: Loudness
  readonly end: string | null
}

/** Names only what differs from the post. */
function changeOf(post: Post, { text, image, loudness, end }: Wanted) {
  const isOnTop = loudness !== 'feed'
  const isSame = (a: unknown, b: unknown) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
  const before = post.image && { url: post.image.url, alt: post.image.alt ?? '' }
  return {
    ...(!isSame(text, post.text) && { text }),
    ...(!isSame(image, before) && { image: image ?? null }),
    ...(isOnTop !== post.shown && { urgent: isOnTop }),
    ...(isOnTop && end !== (post.shown ? post.until : null) && { until: end }),
  }
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

interface PictureFieldProps {
  readonly picture: { readonly url: string; readonly alt?: string } | null
  onPicture(next: { readonly url: string } | null): void
}

function PictureField({ picture, onPicture }: PictureFieldProps) {
  if (picture === null) return <AddPicture label="A picture, if you like" onPicture={(url) => onPicture({ url })} />
  return (
    <div class="stack close">
      <img class="single" src={shownAt(picture.url)} alt="" />
      <Labelled
        label="What it shows"
        input={{ name: 'alt', maxLength: 200, required: true, defaultValue: picture.alt }}
      />
      <p>
        <button type="button" class="btn bare" onClick={() => onPicture(null)}>
          <Icon name="bin" />
          Remove the picture
        </button>
      </p>
    </div>
  )
}
