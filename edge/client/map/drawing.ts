/**
 * Draws the hall on a canvas: sections from far away, seats close up. Seats are copied from a picture of each kind,
 * which takes a tenth of the time of drawing twenty thousand circles. Only the visitor's own seats have colour.
 */
import {
  type Box,
  FREE,
  type Hall,
  type Point,
  type Seat,
  type Section,
  TIERS,
} from '../../../shared/hall/hall-model.ts'
import { heightOf, linesThatFit, roomIn, rowMarks, stageMark, type View } from './marks.ts'
import { element } from './parts.ts'

/**
 * Seats are drawn only if neighbours are at least this far apart in pixels. Of a hall that is farther away, its
 * sections with their prices tell more.
 */
const SEATS_FROM_PX = 10
/** Neighbouring seats at least this far apart have space for a number. */
const NUMBERS_FROM_PX = 26
/** The radius of a seat as a share of the distance between neighbours. */
const RADIUS = 0.38
const FADED = 0.22
/** The names of rows are written only if seats are at least this far apart in pixels. */
const ROWS_FROM_PX = 14
/** The radius of the ground below a name at the edge of the map. */
const GROUND_PX = 11
/** The space between lines of a section's text, as a multiple of its letters. */
const LINE_HEIGHT = 1.25
const FULL_CIRCLE = 2 * Math.PI

/** The colours of the page's brand and look, as the style sheet gives them to the dots of a legend. */
export interface Inks {
  readonly mine: string
  readonly onMine: string
  /** The colours of tiers 1 to 4. */
  readonly tiers: readonly string[]
  readonly onFree: string
  readonly taken: string
  readonly ink: string
  readonly quiet: string
  readonly block: string
  readonly edge: string
  readonly font: string
}

/**
 * Reads the colours from elements styled by the style sheet, because a brand, another look or forced colours change
 * them.
 */
export function inksOf(place: HTMLElement): Inks {
  const probe = (kind: string) => {
    const dot = element('i', { class: `dot ${kind}`, hidden: true })
    place.append(dot)
    const { backgroundColor } = getComputedStyle(dot)
    dot.remove()
    return backgroundColor
  }
  return {
    mine: probe('mine'),
    onMine: probe('on-mine'),
    tiers: Array.from({ length: TIERS }, (_, i) => probe(`c${i + 1}`)),
    onFree: probe('on-free'),
    taken: probe('taken'),
    ink: probe('ink'),
    quiet: probe('quiet-ink'),
    block: probe('block'),
    edge: probe('edge'),
    font: getComputedStyle(place).fontFamily,
  }
}

export interface Scene {
  readonly hall: Hall
  readonly states: Uint8Array
  readonly chosen: readonly Seat[]
  /** These of the chosen seats are offered: they are ringed, because they are held for nobody. */
  readonly offered: ReadonlySet<Seat>
  /** The seat with the keyboard's focus. */
  readonly active: Seat | null
  readonly view: View
  readonly width: number
  readonly height: number
  /** The number of screen pixels for each page pixel. */
  readonly density: number
  readonly fits: (seat: Seat) => boolean
  /** Returns the text that is written into a section. */
  readonly label: (section: Section) => readonly [name: string, price: string, count: string]
  readonly stage: string
}

export const seatsAreShown = ({ spacing }: Pick<Hall, 'spacing'>, { k }: View) => spacing * k >= SEATS_FROM_PX

export class Painter {
  readonly #canvas: HTMLCanvasElement
  readonly #to: CanvasRenderingContext2D
  #inks: Inks
  /** Pictures of a seat by kind, all of one size. */
  #pictures = new Map<string, HTMLCanvasElement>()
  #size = 0

  constructor(canvas: HTMLCanvasElement, inks: Inks) {
    const to = canvas.getContext('2d')
    if (!to) throw new Error('no canvas')
    this.#canvas = canvas
    this.#to = to
    this.#inks = inks
  }

  set inks(inks: Inks) {
    this.#inks = inks
    this.#pictures.clear()
  }

  draw(scene: Scene): void {
    const { hall, view, width, height, density } = scene
    const to = this.#to
    const [w, h] = [Math.round(width * density), Math.round(height * density)]
    if (this.#canvas.width !== w || this.#canvas.height !== h) [this.#canvas.width, this.#canvas.height] = [w, h]
    to.setTransform(density, 0, 0, density, 0, 0)
    to.clearRect(0, 0, width, height)
    // The plan is the same in all languages, but the direction of its texts is not.
    to.direction = document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'
    const seen = boxSeen(scene)
    const areNear = seatsAreShown(hall, view)
    for (const section of hall.sections) this.#outline(section, view)
    if (areNear) this.#seats(scene, seen)
    else for (const section of hall.sections) this.#label(section, scene)
    if (!areNear) for (const seat of scene.chosen) this.#dot(seat, view, 5)
    this.#stage(scene)
  }

  #outline({ outline }: Section, { k, x, y }: View): void {
    if (outline.length < 3) return
    const to = this.#to
    to.beginPath()
    for (const [px, py] of outline) to.lineTo(px * k + x, py * k + y)
    to.closePath()
    to.fillStyle = this.#inks.block
    to.fill()
    to.lineWidth = 1
    to.strokeStyle = this.#inks.edge
    to.stroke()
  }

  #stage(scene: Scene): void {
    const { text, x, y, isStuck } = stageMark(scene.hall, scene.stage, scene)
    if (isStuck) this.#ground(x, y, this.#widthOf(text, 600, 13) / 2 + GROUND_PX)
    this.#text(text, x, y, isStuck ? this.#inks.ink : this.#inks.quiet, 600, 13)
  }

  /** Writes name, price and count of free seats into a section, as far as they fit. */
  #label(section: Section, { view: { k, x, y }, label }: Scene): void {
    const [cx, cy] = [section.center[0] * k + x, section.center[1] * k + y]
    const outline = section.outline.map(([px, py]): Point => [px * k + x, py * k + y])
    const lines = linesThatFit(
      label(section),
      ({ text, weight, px }) => this.#widthOf(text, weight, px),
      (height) => roomIn(outline, [cx, cy], height),
    )
    let top = cy - heightOf(lines) / 2
    for (const { text, px, weight } of lines) {
      this.#text(text, cx, top + (px * LINE_HEIGHT) / 2, weight === 600 ? this.#inks.ink : this.#inks.quiet, weight, px)
      top += px * LINE_HEIGHT
    }
  }

  #widthOf(text: string, weight: number, px: number): number {
    this.#to.font = `${weight} ${px}px ${this.#inks.font}`
    return this.#to.measureText(text).width
  }

  /** A ground on which a text at the edge is read, whatever is below it. */
  #ground(x: number, y: number, halfWidth: number): void {
    const to = this.#to
    to.beginPath()
    to.roundRect(x - halfWidth, y - GROUND_PX, 2 * halfWidth, 2 * GROUND_PX, GROUND_PX)
    to.fillStyle = this.#inks.block
    to.fill()
  }

  #text(text: string, x: number, y: number, ink: string, weight: number, px: number): void {
    const to = this.#to
    to.font = `${weight} ${px}px ${this.#inks.font}`
    to.textAlign = 'center'
    to.textBaseline = 'middle'
    to.fillStyle = ink
    to.fillText(text, x, y)
  }

  #seats(scene: Scene, seen: Box): void {
    const { hall, states, view, chosen, offered, active, fits, density } = scene
    const { k, x, y } = view
    const to = this.#to
    const apart = hall.spacing * k
    const size = Math.max(2, apart * RADIUS)
    // A picture of a slightly different size is scaled, because a new set for each frame of a zoom would cost more.
    if (Math.abs(size * density - this.#size) > this.#size * 0.12) {
      this.#pictures.clear()
      this.#size = size * density
    }
    const side = 2 * size + 2
    const mine = new Set(chosen.map(({ index }) => index))
    const faded: Seat[] = []
    const copy = (seat: Seat) => {
      const isFree = states[seat.index] === FREE
      const tier = isFree ? (hall.tiers.get(seat.category) ?? 1) : 0
      const picture = this.#picture(`${tier}${seat.kind === 'accessible' ? 'w' : ''}`, size * density)
      to.drawImage(picture, seat.x * k + x - side / 2, seat.y * k + y - side / 2, side, side)
    }
    hall.grid.inside(seen, (seat) => {
      if (mine.has(seat.index)) return
      if (fits(seat)) copy(seat)
      else faded.push(seat)
    })
    to.globalAlpha = FADED
    faded.forEach(copy)
    to.globalAlpha = 1
    for (const seat of chosen)
      if (offered.has(seat)) this.#offer(seat, view, size * 1.18)
      else this.#dot(seat, view, size * 1.18)
    if (apart >= NUMBERS_FROM_PX)
      hall.grid.inside(seen, (seat) => {
        const isMine = mine.has(seat.index)
        if (states[seat.index] !== FREE || !(isMine || fits(seat))) return
        const ink = offered.has(seat) ? this.#inks.mine : isMine ? this.#inks.onMine : this.#inks.onFree
        this.#text(seat.number, seat.x * k + x, seat.y * k + y + 0.5, ink, 600, Math.min(14, apart * 0.34))
      })
    if (apart >= ROWS_FROM_PX) this.#rows(scene)
    if (active) this.#ring(active, view, size)
  }

  #rows(scene: Scene): void {
    for (const { text, x, y, isStuck } of rowMarks(scene.hall, scene)) {
      if (isStuck) this.#ground(x, y, GROUND_PX)
      this.#text(text, x, y, isStuck ? this.#inks.ink : this.#inks.quiet, isStuck ? 600 : 400, 12)
    }
  }

  #offer(seat: Seat, view: View, size: number): void {
    this.#dot(seat, view, size)
    const { k, x, y } = view
    const to = this.#to
    to.beginPath()
    to.arc(seat.x * k + x, seat.y * k + y, Math.max(2, size - 3), 0, FULL_CIRCLE)
    to.fillStyle = this.#inks.block
    to.fill()
  }

  #dot(seat: Seat, { k, x, y }: View, size: number): void {
    const to = this.#to
    to.beginPath()
    to.arc(seat.x * k + x, seat.y * k + y, Math.max(4, size), 0, FULL_CIRCLE)
    to.fillStyle = this.#inks.mine
    to.fill()
  }

  #ring(seat: Seat, { k, x, y }: View, size: number): void {
    const to = this.#to
    to.beginPath()
    to.arc(seat.x * k + x, seat.y * k + y, size + 4, 0, FULL_CIRCLE)
    to.lineWidth = 3
    to.strokeStyle = this.#inks.mine
    to.stroke()
  }

  /**
   * Draws a circle, or a rounded square for a wheelchair place. The kind `0` is a taken seat, which is smaller and
   * pale.
   */
  #picture(kind: string, size: number): HTMLCanvasElement {
    const known = this.#pictures.get(kind)
    if (known) return known
    const side = Math.ceil(2 * size + 2)
    const picture = document.createElement('canvas')
    picture.width = picture.height = side
    const to = picture.getContext('2d')
    if (to) {
      const tier = Number.parseInt(kind, 10)
      const radius = tier === 0 ? size * 0.55 : size
      to.fillStyle = tier === 0 ? this.#inks.taken : (this.#inks.tiers[tier - 1] ?? this.#inks.ink)
      to.beginPath()
      if (kind.endsWith('w')) to.roundRect(side / 2 - radius, side / 2 - radius, 2 * radius, 2 * radius, radius / 4)
      else to.arc(side / 2, side / 2, radius, 0, FULL_CIRCLE)
      to.fill()
    }
    this.#pictures.set(kind, picture)
    return picture
  }
}

/** The visible part of the hall. */
const boxSeen = ({ view: { k, x, y }, width, height, hall }: Scene): Box => ({
  x0: -x / k - hall.spacing,
  y0: -y / k - hall.spacing,
  x1: (width - x) / k + hall.spacing,
  y1: (height - y) / k + hall.spacing,
})
