/** Fields for pictures: choose, drop or fetch them, describe them, order them, and remove them. */

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { send } from '../../api.ts'
import { shownAt } from '../../sheet/picture.tsx'
import { type Body, valueAt } from '../sale-form/draft.ts'
import { TextField, useForm } from '../sale-form/fields.tsx'

interface AddProps {
  readonly label: string
  readonly multiple?: boolean
  onPicture(url: string): void
}

export function AddPicture({ label, multiple = false, onPicture }: AddProps) {
  const waiting = useSignal(0)
  const faults = useSignal<readonly string[]>([])
  const isOver = useSignal(false)
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
  return (
    <fieldset
      class={`drop ${isOver.value ? 'is-over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        isOver.value = true
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => {
        event.preventDefault()
        isOver.value = false
        void addFiles(event.dataTransfer?.files)
      }}
    >
      <legend>{label}</legend>
      <label>
        {multiple ? 'Files' : 'File'}
        <input
          type="file"
          accept="image/*"
          multiple={multiple}
          onChange={({ currentTarget }) => {
            void addFiles(currentTarget.files).then(() => (currentTarget.value = ''))
          }}
        />
        <small class="quiet">Or drop {multiple ? 'them' : 'it'} here.</small>
      </label>
      <div class="address">
        <label>
          Or an address
          <input
            ref={address}
            type="url"
            placeholder="https://"
            autocomplete="off"
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              addAddress()
            }}
          />
        </label>
        <button type="button" onClick={addAddress}>
          Fetch
        </button>
      </div>
      <p role="status" class={waiting.value > 0 ? '' : 'unseen'}>
        {waiting.value > 0 && `${waiting.value === 1 ? 'A picture is' : `${waiting.value} pictures are`} on the way …`}
      </p>
      {faults.value.map((fault) => (
        <small key={fault} class="wrong" role="alert">
          {fault}
        </small>
      ))}
    </fieldset>
  )
}

/** The pictures of a product, the first of which stands for it. */
export function Pictures({ path }: { path: string }) {
  const { body, wrong, set } = useForm()
  const pictures = (valueAt(body, path) ?? []) as readonly Body[]
  // An upload may end after the list has changed.
  const latest = useRef(pictures)
  latest.current = pictures
  const write = (next: readonly Body[]) => {
    latest.current = next
    set(path, next)
  }
  const move = (from: number, by: number) => {
    const next = [...pictures]
    next.splice(from + by, 0, ...next.splice(from, 1))
    write(next)
  }
  return (
    <>
      <ol class="pictures">
        {pictures.map((picture, i) => (
          <li key={picture.url}>
            <img src={shownAt(String(picture.url))} alt="" width="96" height="96" loading="lazy" />
            <div>
              <TextField
                path={`${path}.${i}.alt`}
                label={i === 0 ? 'What picture 1 shows' : `What picture ${i + 1} shows`}
                hint={i === 0 ? 'For those who do not see it. The first picture stands for the product.' : undefined}
              />
              {wrong.has(`${path}.${i}.url`) && <small class="wrong">{wrong.get(`${path}.${i}.url`)}</small>}
              <p class="buttons start">
                <button
                  type="button"
                  aria-label={`Move picture ${i + 1} forward`}
                  disabled={i === 0}
                  onClick={() => move(i, -1)}
                >
                  ↑
                </button>
                <button
                  type="button"
                  aria-label={`Move picture ${i + 1} back`}
                  disabled={i === pictures.length - 1}
                  onClick={() => move(i, 1)}
                >
                  ↓
                </button>
                <button
                  type="button"
                  class="link"
                  aria-label={`Remove picture ${i + 1}`}
                  onClick={() => write(pictures.filter((one) => one !== picture))}
                >
                  Remove
                </button>
              </p>
            </div>
          </li>
        ))}
      </ol>
      {wrong.has(path) && <small class="wrong">{wrong.get(path)}</small>}
      <AddPicture
        label="Add pictures"
        multiple
        onPicture={(url) => {
          // Equal bytes give the same picture, which is not added twice.
          if (latest.current.some((one) => one.url === url)) return
          write([...latest.current, { url, alt: '' }])
        }}
      />
    </>
  )
}

/** A field for one picture, such as a logo. */
export function Picture({ path, label }: { path: string; label: string }) {
  const { body, wrong, set } = useForm()
  const url = valueAt(body, path)
  if (typeof url !== 'string') return <AddPicture label={label} onPicture={(one) => set(path, one)} />
  return (
    <div class="form-field">
      <b>{label}</b>
      <img class="single" src={shownAt(url)} alt={label} />
      {wrong.has(path) && <small class="wrong">{wrong.get(path)}</small>}
      <button type="button" class="link" onClick={() => set(path, undefined)}>
        Remove {label.toLowerCase()}
      </button>
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
export const uploadPicture = (file: File) => upload(file, file.type || 'application/octet-stream')

export const fetchPicture = (address: string) => upload(JSON.stringify({ url: address }), 'application/json')
