/** The visible part of the hall, and how the visitor moves it: by touch, mouse, keys and buttons. */
import { select } from 'd3-selection'
import 'd3-transition'
import { type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom'
import { type Box, boxOf, type Hall, type Point, type Seat, type Section } from '../../../shared/hall/hall-model.ts'
import { seatsAreShown } from './drawing.ts'

/** At the closest zoom, neighbouring seats are this far apart in pixels. */
const CLOSEST_PX = 64
/**
 * When the map zooms to a section or a seat, neighbouring seats are this far apart, which is the width of a finger.
 */
const NEAR_PX = 46
const MOVE_MS = 280
/** The space that stays free around what is shown: beside it, and above and below it for the name of the stage. */
const ASIDE_PX = 8
const ABOVE_PX = 24
/** A zoom of at most this factor still counts as the whole hall. */
const WHOLE = 1.1
/** The zoom factor of one step of the buttons and keys. */
const STEP = 1.6

export class Camera {
  readonly #canvas: HTMLCanvasElement
  readonly #hall: Hall
  readonly #zoom = zoom<HTMLCanvasElement, unknown>()
  #transform: ZoomTransform = zoomIdentity
  #size = { width: 1, height: 1 }

  /** The canvas listens until the signal is aborted. `onMove` is called when the visible part changes. */
  constructor(canvas: HTMLCanvasElement, hall: Hall, onMove: () => void, signal: AbortSignal) {
    this.#canvas = canvas
    this.#hall = hall
    this.#zoom.on('zoom', ({ transform }: { transform: ZoomTransform }) => {
      this.#transform = transform
      onMove()
    })
    select(canvas).call(this.#zoom).on('dblclick.zoom', null)
    const observer = new ResizeObserver(() => this.#onResize())
    observer.observe(canvas)
    signal.addEventListener('abort', () => observer.disconnect())
  }

  get size() {
    return this.#size
  }

  get view() {
    const { k, x, y } = this.#transform
    return { k, x, y }
  }

  /** The distance between neighbouring seats, in pixels. */
  get apart(): number {
    return this.#hall.spacing * this.#transform.k
  }

  get middle(): Point {
    const { width, height } = this.#size
    return this.#transform.invert([width / 2, height / 2])
  }

  get box(): Box {
    const { width, height } = this.#size
    const [x0, y0] = this.#transform.invert([0, 0])
    const [x1, y1] = this.#transform.invert([width, height])
    return { x0, y0, x1, y1 }
  }

  get showsSeats(): boolean {
    return seatsAreShown(this.#hall, this.#transform)
  }

  /** True if only a part of the hall is visible. */
  get isInside(): boolean {
    return this.#transform.k > WHOLE * this.#fitted().k
  }

  /** Converts a length to the hall's units. */
  lengthOf(pixels: number): number {
    return pixels / this.#transform.k
  }

  /** The position of an event in the hall. */
  pointOf(event: MouseEvent): Point {
    const { left, top } = this.#canvas.getBoundingClientRect()
    return this.#transform.invert([event.clientX - left, event.clientY - top])
  }

  /** True for a point within the canvas that is less than this many pixels from its edge. */
  isAtEdge(point: Point, pixels: number): boolean {
    const { width, height } = this.#size
    const [x, y] = this.#transform.apply([...point])
    return x < pixels || y < pixels || x > width - pixels || y > height - pixels
  }

  /** Shows the whole hall. */
  fit(isSlow = true): void {
    const { clientWidth, clientHeight } = this.#canvas
    if (clientWidth > 0) this.#size = { width: clientWidth, height: clientHeight }
    this.#bound()
    this.#moveTo(this.#fitted(), isSlow)
  }

  closer(): void {
    this.#zoom.scaleBy(select(this.#canvas), STEP)
  }

  farther(): void {
    this.#zoom.scaleBy(select(this.#canvas), 1 / STEP)
  }

  /** Zooms to a point until a finger can press seats. */
  near([x, y]: Point): void {
    const k = Math.max(this.#transform.k, NEAR_PX / this.#hall.spacing)
    const { width, height } = this.#size
    this.#moveTo(zoomIdentity.translate(width / 2 - x * k, height / 2 - y * k).scale(k))
  }

  /** Zooms to some seats, and keeps them all in view. */
  toSeats(seats: readonly Seat[]): void {
    const { spacing } = this.#hall
    const points = seats.map(({ x, y }): Point => [x, y])
    this.#moveTo(this.#showing(boxOf(points, 2 * spacing), NEAR_PX / spacing))
  }

  toSection({ outline }: Section): void {
    const { spacing } = this.#hall
    this.#moveTo(this.#showing(boxOf(outline, spacing), NEAR_PX / spacing))
  }

  #onResize(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas
    if (width === 0 || (width === this.#size.width && height === this.#size.height)) return
    const before = this.#size
    const wasFitted = Math.abs(this.#transform.k - this.#fitted().k) < 1e-9
    this.#size = { width, height }
    this.#bound()
    if (wasFitted) {
      this.fit(false)
      return
    }
    const { k, x, y } = this.#transform
    this.#moveTo(
      zoomIdentity.translate(x + (width - before.width) / 2, y + (height - before.height) / 2).scale(k),
      false,
    )
  }

  #bound(): void {
    const { bounds, spacing } = this.#hall
    const { width, height } = this.#size
    const { k } = this.#fitted()
    const margin = Math.max(width, height) / k / 3
    this.#zoom
      .extent([
        [0, 0],
        [width, height],
      ])
      .scaleExtent([k, Math.max(k * 1.5, CLOSEST_PX / spacing)])
      .translateExtent([
        [bounds.x0 - margin, bounds.y0 - margin],
        [bounds.x1 + margin, bounds.y1 + margin],
      ])
  }

  #fitted = () => this.#showing(this.#hall.bounds, Infinity)

  /** Centres a box as large as it fits, but no closer than `closest`. */
  #showing({ x0, y0, x1, y1 }: Box, closest: number): ZoomTransform {
    const { width, height } = this.#size
    const room = [Math.max(1, width - 2 * ASIDE_PX), Math.max(1, height - 2 * ABOVE_PX)] as const
    const k = Math.min(closest, room[0] / (x1 - x0), room[1] / (y1 - y0))
    return zoomIdentity.translate(width / 2 - ((x0 + x1) / 2) * k, height / 2 - ((y0 + y1) / 2) * k).scale(k)
  }

  #moveTo(transform: ZoomTransform, isSlow = true): void {
    const canvas = select(this.#canvas)
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
    if (isSlow && !isStill) this.#zoom.transform(canvas.transition().duration(MOVE_MS) as never, transform)
    else this.#zoom.transform(canvas, transform)
  }
}
