/**
 * Makes, stores and finds the pictures of goods by the hash of the uploaded file, so that a repeated upload gives the
 * same picture. The ledger records when each picture was last uploaded or named, and pictures that nothing names any
 * more are deleted.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { PictureSize } from '../../shared/api/goods.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Sql } from '../ledger/connection.ts'
import { Overloaded } from '../lib/batcher.ts'
import type { ImageStore } from './image-store.ts'
import { FORMATS, type Format, resize, WIDTHS } from './resize.ts'

/** At most this many pictures of some megabytes each wait to be resized; more are refused for now. */
const MAX_WAITING = 4
/** At most this many sizes are in memory. */
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

  /** Throws NoPicture, or Overloaded if too many pictures wait. */
  async add(bytes: Uint8Array): Promise<Picture> {
    const image = hash('sha256', bytes).slice(0, 32)
    // The ledger's row is written first. After that the picture's files are either protected from deletion or already
    // gone.
    await this.#sql`
      insert into pictures (image, used_at) values (${image}, clock_timestamp())
      on conflict (image) do update set used_at = excluded.used_at`
    const known = await this.#stored(image)
    if (known) return known
    const { renditions, ...size } = await this.#inTurn(() => resize(bytes))
    for (const { width, format, bytes } of renditions)
      await this.#store.put(`${image}/${width}.${format}`, bytes, FORMATS[format])
    // The size is written last, so that a picture with a size has all its files.
    await this.#store.put(`${image}/size.json`, Buffer.from(JSON.stringify(size)), 'application/json')
    return this.#remember(image, size)
  }

  /** Finds a picture by its address and marks it as named. Null if it is not a picture of this system. */
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
    // The size is deleted first, so that a picture with a size has all its files.
    await this.#store.delete(`${image}/size.json`)
    const files = (picture?.widths ?? WIDTHS).flatMap((width) =>
      Object.keys(FORMATS).map((format) => `${image}/${width}.${format}`),
    )
    await Promise.all(files.map((file) => this.#store.delete(file)))
  }

  /** Finds a picture by its address. Null if it is not a picture of this system. */
  async find(address: string): Promise<Picture | null> {
    const image = ADDRESS.exec(address)?.[1]
    return image === undefined ? null : this.#find(image)
  }

  /** `name` is a file of the picture, such as `640.webp`. */
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

  /**
   * Pictures are resized one at a time, because a large one takes some seconds of a processor and a hundred
   * megabytes.
   */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) return Promise.reject(new Overloaded('too many pictures wait to be resized'))
    this.#waiting++
    const done = this.#latest.then(work).finally(() => this.#waiting--)
    this.#latest = done.catch(() => {})
    return done
  }
}

/** The file that is served if the picture is requested without a width. */
export const middleOf = ({ url, widths }: Picture) =>
  `${url}/${widths.findLast((one) => one <= WIDTHS[3]) ?? widths[0]}.jpg`
