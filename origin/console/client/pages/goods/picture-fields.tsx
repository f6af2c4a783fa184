/** Fields for pictures: choose, drop or fetch them, describe them, order them, and remove them. */

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { send } from '../../api.ts'
import { useDrop } from '../../sheet/controls.tsx'
import { Icon } from '../../sheet/icon.tsx'
import { Dot } from '../../sheet/marks.tsx'
import { shownAt } from '../../sheet/picture.tsx'
import { type Body, valueAt } from '../sale-form/draft.ts'
import { isWithin, useForm } from '../sale-form/fields/form.tsx'

interface AddProps {
  readonly label: string
  readonly multiple?: boolean
  /** True for one line instead of a box. */
  readonly isSmall?: boolean
  onPicture(url: string): void
}

export function AddPicture({ label, multiple = false, isSmall = false, onPicture }: AddProps) {
  const waiting = useSignal(0)
  const faults = useSignal<readonly string[]>([])
  const address = useRef<HTMLInputElement>(null)
  /** Pictures are added one at a time, so that they keep their order. */
  const add = async (pictures: readonly { readonly name: string; readonly read: () => Promise<string> }[]) => {
    faults.value = []
    waiting.value += pictures.length
    for (const { name, read } of pictures) {
      try {
        onPicture(await read())
      } catch (error) {
        faults.value = [...faults.value, `${name}: ${(error as Error).message}`]
      }
      waiting.value--
    }
  }
  const addFiles = (files: FileList | null | undefined) =>
    add(
      [...(files ?? [])]
        .slice(0, multiple ? undefined : 1)
        .map((file) => ({ name: file.name, read: () => uploadPicture(file) })),
    )
  const addAddress = () => {
    const field = address.current
    const url = field?.value.trim() ?? ''
    if (!field || url === '') return
    void add([{ name: url, read: () => fetchPicture(url) }])
    field.value = ''
  }
  const drop = useDrop(addFiles)
  const file = useRef<HTMLInputElement>(null)
  const many = waiting.value
  return (
    <fieldset
      aria-label={label}
      class={`drop ${isSmall ? 'line' : ''} ${drop.isOver ? 'is-over' : ''}`}
      {...drop.place}
    >
      {!isSmall && <b class="small">Drop pictures here</b>}
      <button type="button" class="btn" onClick={() => file.current?.click()}>
        <Icon name="in" />
        {multiple ? 'Choose files' : label}
      </button>
      <input
        ref={file}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label={multiple ? 'Files' : `File, ${label.toLowerCase()}`}
        accept="image/*"
        multiple={multiple}
        onChange={({ currentTarget }) => {
          void addFiles(currentTarget.files).then(() => (currentTarget.value = ''))
        }}
      />
      <label class="field">
        <span class="unseen">Or an address, {label.toLowerCase()}</span>
        <input
          ref={address}
          type="url"
          placeholder="or an address"
          size={10}
          autocomplete="off"
          onBlur={addAddress}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            addAddress()
          }}
        />
      </label>
      <p role="status" class={many > 0 ? 'note' : 'unseen'}>
        {many > 0 && `${many === 1 ? 'A picture is' : `${many} pictures are`} on the way …`}
      </p>
      {faults.value.map((fault) => (
        <p key={fault} class="note is-bad" role="alert">
          {fault}
        </p>
      ))}
    </fieldset>
  )
}

/** The pictures of a product, the first of which stands for it. */
export function Pictures({ path }: { path: string }) {
  const { body, wrong, changes, set } = useForm()
  const pictures = (valueAt(body, path) ?? []) as readonly Body[]
  // An upload may end after the list has changed.
  const latest = useRef(pictures)
  latest.current = pictures
  const write = (next: readonly Body[]) => {
    latest.current = next
    set(path, next)
  }
  const dragged = useRef<number | null>(null)
  const move = (from: number, to: number) => {
    const picture = pictures[from]
    if (!picture || to < 0 || to >= pictures.length) return
    write(pictures.toSpliced(from, 1).toSpliced(to, 0, picture))
  }
  const before = changes.find((one) => one.path === path)?.before as readonly Body[] | undefined
  return (
    <>
      <ol class="pics">
        {pictures.map((picture, i) => {
          const was = before?.findIndex(({ url }) => url === picture.url)
          return (
            <li
              key={picture.url}
              class="stack close"
              onDragOver={(event) => event.preventDefault()}
              onDrop={(event) => {
                if (dragged.current === null) return
                event.preventDefault()
                event.stopPropagation()
                move(dragged.current, i)
                dragged.current = null
              }}
            >
              {/* biome-ignore lint/a11y/noStaticElementInteractions: the button below moves it by keys. */}
              <img
                class="pic"
                src={shownAt(String(picture.url))}
                alt=""
                width="160"
                height="160"
                loading="lazy"
                draggable
                onDragStart={() => (dragged.current = i)}
              />
              <div class="row no-wrap tools">
                <small class="quiet">{i === 0 ? '1, on cards' : i + 1}</small>
                <button
                  type="button"
                  class="btn bare end"
                  aria-label={`Move picture ${i + 1}: arrow keys`}
                  onKeyDown={(event) => {
                    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
                    if (by === undefined) return
                    event.preventDefault()
                    move(i, i + by)
                  }}
                >
                  <Icon name="grip" />
                </button>
                <button
                  type="button"
                  class="btn bare"
                  aria-label={`Take picture ${i + 1} away`}
                  onClick={() => write(pictures.filter((one) => one !== picture))}
                >
                  <Icon name="bin" />
                </button>
              </div>
              <label class="field">
                <span class="unseen">What picture {i + 1} shows</span>
                <textarea
                  name={`${path}.${i}.alt`}
                  rows={2}
                  placeholder="What it shows"
                  value={String(picture.alt ?? '')}
                  onInput={({ currentTarget }) => set(`${path}.${i}.alt`, currentTarget.value)}
                />
              </label>
              {!picture.alt && (
                <p class="note">
                  <Dot level="watch" />
                  Say what it shows.
                </p>
              )}
              {was !== undefined && was !== i && (
                <p class="note">
                  <Dot level="info" />
                  {was < 0 ? 'New.' : `Was number ${was + 1}.`}
                </p>
              )}
              {[...wrong].flatMap(([field, text]) =>
                isWithin(field, `${path}.${i}`)
                  ? [
                      <p key={field} class="note is-bad">
                        {text}
                      </p>,
                    ]
                  : [],
              )}
            </li>
          )
        })}
        <li>
          <AddPicture
            label="Add pictures"
            multiple
            onPicture={(url) => {
              // Equal bytes give the same picture, which is not added twice.
              if (latest.current.some((one) => one.url === url)) return
              write([...latest.current, { url, alt: '' }])
            }}
          />
        </li>
      </ol>
      {wrong.has(path) && <p class="note is-bad">{wrong.get(path)}</p>}
    </>
  )
}

/** A field for one picture, such as a logo. */
export function Picture({ path, label }: { path: string; label: string }) {
  const { body, wrong, set } = useForm()
  const url = valueAt(body, path)
  if (typeof url !== 'string')
    return <AddPicture label={`Add a ${label.toLowerCase()}`} isSmall onPicture={(one) => set(path, one)} />
  return (
    <div class="row">
      <img class="single" src={shownAt(url)} alt={label} />
      <button type="button" class="btn" onClick={() => set(path, undefined)}>
        <Icon name="bin" />
        Remove the {label.toLowerCase()}
      </button>
      {wrong.has(path) && <p class="note is-bad">{wrong.get(path)}</p>}
    </div>
  )
}

/** The origin makes several widths and formats of it before it responds. */
const UPLOAD_TIMEOUT_MS = 120_000

/** Uploads a picture to the origin, which stores it for the pages. */
async function upload(body: Blob | string, type: string): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': type }, body }
  const { url }: { readonly url: string } = await (await send('/admin/images', init, UPLOAD_TIMEOUT_MS)).json()
  return url
}

/** Both functions return the picture's address, and throw the reason if it is refused. */
const uploadPicture = (file: File) => upload(file, file.type || 'application/octet-stream')

const fetchPicture = (address: string) => upload(JSON.stringify({ url: address }), 'application/json')
