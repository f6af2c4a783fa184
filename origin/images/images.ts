/**
 * The pictures of goods: made, stored and found by the hash of what was uploaded, so that one uploaded again is the same. The ledger has
 * when each was uploaded or named last: what nothing names any more is deleted in time.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { PictureSize } from '../../shared/api/goods.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Sql } from '../ledger/connection.ts'
import { Overloaded } from '../lib/batcher.ts'
import type { ImageStore } from './image-store.ts'
import { FORMATS, type Format, resize, WIDTHS } from './resize.ts'

/** Pictures that wait to be resized, some megabytes each; more are refused for now. */
const MAX_WAITING = 4
/** Sizes in memory. */
const MAX_KNOWN = 10_000

const ADDRESS = /^\/images\/([0-9a-f]{32})$/
const FILE = new RegExp(`^(\\d{1,4})\\.(${Object.keys(FORMATS).join('|')})$`)

export interface Picture extends PictureSize {
  readonly image: string
  readonly url: string
}
export interface ImageFile {
  readonly bytes: Uint8Array
  readonly type: string
}

export class Images {
  readonly #store: ImageStore
  readonly #sql: Sql
  readonly #known = new RecentMap<string, Picture>(MAX_KNOWN)
  #latest: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(store: ImageStore, sql: Sql) {
    this.#store = store
    this.#sql = sql
  }

  /** Throws NoPicture, or Overloaded where too many wait. */
  async add(bytes: Uint8Array): Promise<Picture> {
    const image = hash('sha256', bytes).slice(0, 32)
    // First: its files stay from now on, or are gone already.
    await this.#sql`
      insert into pictures (image, used_at) values (${image}, clock_timestamp())
      on conflict (image) do update set used_at = excluded.used_at`
    const known = await this.#stored(image)
    if (known) return known
    const { renditions, ...size } = await this.#inTurn(() => resize(bytes))
    for (const { width, format, bytes } of renditions)
      await this.#store.put(`${image}/${width}.${format}`, bytes, FORMATS[format])
    // Last: a picture with a size has all its files.
    await this.#store.put(`${image}/size.json`, Buffer.from(JSON.stringify(size)), 'application/json')
    return this.#remember(image, size)
  }

  /** One of ours by its address, which is going to be named; null if there is none. */
  async use(address: string): Promise<Picture | null> {
    const image = ADDRESS.exec(address)?.[1]
    if (image === undefined) return null
    await this.#sql`update pictures set used_at = clock_timestamp() where image = ${image}`
    return this.#stored(image)
  }

  /** Deletes the files of a picture. */
  async remove(image: string): Promise<void> {
    const picture = await this.#stored(image)
    this.#known.delete(image)
    // First: a picture with a size has all its files.
    await this.#store.delete(`${image}/size.json`)
    const files = (picture?.widths ?? WIDTHS).flatMap((width) =>
      Object.keys(FORMATS).map((format) => `${image}/${width}.${format}`),
    )
    await Promise.all(files.map((file) => this.#store.delete(file)))
  }

  /** One of ours by its address; null if there is none. */
  async find(address: string): Promise<Picture | null> {
    const image = ADDRESS.exec(address)?.[1]
    return image === undefined ? null : this.#find(image)
  }

  /** `640.webp` of a picture. */
  async file(address: string, name: string): Promise<ImageFile | null> {
    const image = ADDRESS.exec(address)?.[1]
    const [, , format] = FILE.exec(name) ?? []
    if (image === undefined || format === undefined) return null
    const bytes = await this.#store.get(`${image}/${name}`)
    return bytes && { bytes, type: FORMATS[format as Format] }
  }

  async #find(image: string): Promise<Picture | null> {
    const known = this.#known.get(image)
    return known ?? this.#stored(image)
  }

  async #stored(image: string): Promise<Picture | null> {
    const stored = await this.#store.get(`${image}/size.json`)
    return stored && this.#remember(image, v.parse(PictureSize, JSON.parse(Buffer.from(stored).toString())))
  }

  #remember(image: string, size: PictureSize): Picture {
    const picture = { image, url: `/images/${image}`, ...size }
    this.#known.set(image, picture)
    return picture
  }

  /** One picture at a time: a large one takes some seconds of a processor and a hundred megabytes. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) return Promise.reject(new Overloaded('too many pictures wait to be resized'))
    this.#waiting++
    const done = this.#latest.then(work).finally(() => this.#waiting--)
    this.#latest = done.catch(() => {})
    return done
  }
}

/** The file for those who ask for the picture without a width. */
export const middleOf = ({ url, widths }: Picture) =>
  `${url}/${widths.findLast((one) => one <= WIDTHS[3]) ?? widths[0]}.jpg`
