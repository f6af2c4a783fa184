/**
 * Draws a hall on a canvas: outlines, seats by their state, and the chosen seats. A state has a shape as well as a
 * colour: a ring is free, a half disc held, a disc sold, a cross blocked.
 */
import { type Box, boxOf, type Hall } from '../../../../../shared/hall/hall-model.ts'
import { type SeatState, STATES } from './seats.ts'

/** The position of the hall on the canvas, in CSS pixels. */
export interface View {
  readonly width: number
  readonly height: number
  /** The number of pixels of one unit of the chart. */
  readonly scale: number
  /** The position of the chart's origin. */
  readonly x: number
  readonly y: number
}

export type Colours = Readonly<Record<SeatState | 'ink' | 'quiet' | 'line' | 'accent' | 'card', string>>

/** Reads the colours of the page's current look. */
export function coloursOf(element: HTMLElement): Colours {
  const style = getComputedStyle(element)
  const before = element.style.color
  const colour = (name: string) => {
    element.style.color = `var(${name})`
    return style.color
  }
  const colours = {
    free: colour('--quiet'),
    held: colour('--c2'),
    sold: colour('--c1'),
    blocked: colour('--ink'),
    ink: colour('--ink'),
    quiet: colour('--quiet'),
    line: colour('--hair'),
    accent: colour('--accent'),
    card: colour('--sheet'),
  }
  element.style.color = before
  return colours
}

/** Marks that are drawn over the seats and change with the pointer. */
export interface Marks {
  readonly chosen: ReadonlySet<number>
  /** The seat at the keyboard's or the pointer's position; -1 for none. */
  readonly cursor: number
  /** The selection rectangle, in the chart's units. */
  readonly frame: Box | null
}

/**
 * The distance between seats in pixels below which a section shows its name, and from which a seat shows its number.
 */
const [NAMES_BELOW, NUMBERS_FROM] = [9, 22]
/** A smaller circle looks like a square and costs ten times as much, so squares are drawn instead. */
const CIRCLES_FROM = 1.5
const FULL = 2 * Math.PI

/** Draws outlines, seats and names. */
export function drawHall(canvas: HTMLCanvasElement, view: View, colours: Colours, map: Hall, states: Uint8Array) {
  const context = clearCanvas(canvas, view)
  if (!context) return
  drawSections(context, view, colours, map)
  drawSeats(context, view, colours, map, states)
  drawNames(context, view, colours, map)
}

/** Draws marks on a second canvas over the first, so that thousands of seats are not redrawn for each change. */
export function drawMarks(canvas: HTMLCanvasElement, view: View, colours: Colours, map: Hall, marks: Marks): void {
  const context = clearCanvas(canvas, view)
  if (!context) return
  const radius = radiusOf(map, view)
  context.strokeStyle = colours.accent
  context.lineWidth = Math.max(1.5, radius / 3)
  context.beginPath()
  eachSeen(map, view, (index, x, y) => {
    if (marks.chosen.has(index)) square(context, x, y, radius + context.lineWidth)
  })
  context.stroke()
  const at = map.seats[marks.cursor]
  if (at) {
    context.strokeStyle = colours.ink
    context.lineWidth = 2
    context.beginPath()
    square(context, view.x + at.x * view.scale, view.y + at.y * view.scale, Math.max(radius + 5, 7))
    context.stroke()
  }
  drawFrame(context, view, colours, marks.frame)
}

function clearCanvas(canvas: HTMLCanvasElement, view: View): Context | null {
  const context = canvas.getContext('2d')
  const ratio = devicePixelRatio
  const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)]
  // The size is set only if it differs, because setting it allocates the canvas's memory again.
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
  context?.setTransform(ratio, 0, 0, ratio, 0, 0)
  context?.clearRect(0, 0, view.width, view.height)
  return context
}

const radiusOf = (map: Hall, view: View) => Math.max(0.6, map.spacing * view.scale * 0.38)

function eachSeen(map: Hall, view: View, visit: (index: number, x: number, y: number) => void): void {
  const [left, top] = [-view.x / view.scale, -view.y / view.scale]
  const [right, bottom] = [left + view.width / view.scale, top + view.height / view.scale]
  map.grid.inside(
    boxOf(
      [
        [left, top],
        [right, bottom],
      ],
      map.spacing,
    ),
    ({ index, x, y }) => visit(index, view.x + x * view.scale, view.y + y * view.scale),
  )
}

type Context = CanvasRenderingContext2D

function drawSections(context: Context, view: View, colours: Colours, { sections, focalPoint }: Hall): void {
  context.lineWidth = 1
  context.strokeStyle = colours.quiet
  for (const { outline } of sections) {
    context.beginPath()
    for (const [x, y] of outline) context.lineTo(view.x + x * view.scale, view.y + y * view.scale)
    context.closePath()
    context.stroke()
  }
  // The focal point, which all seats face.
  const [x, y] = [view.x + focalPoint.x * view.scale, view.y + focalPoint.y * view.scale]
  context.beginPath()
  context.moveTo(x - 8, y)
  context.lineTo(x + 8, y)
  context.moveTo(x, y - 8)
  context.lineTo(x, y + 8)
  context.stroke()
}

function drawSeats(context: Context, view: View, colours: Colours, map: Hall, states: Uint8Array): void {
  const radius = radiusOf(map, view)
  // All seats of a state share one path, because a path for each seat is twenty times slower.
  for (const [number, state] of STATES.entries()) {
    const shape = radius < CIRCLES_FROM && state !== 'blocked' ? square : SHAPES[state]
    context.strokeStyle = context.fillStyle = colours[state]
    context.lineWidth = Math.max(0.5, radius / 5)
    context.beginPath()
    eachSeen(map, view, (index, x, y) => {
      if (states[index] === number) shape(context, x, y, radius)
    })
    if (state === 'sold') context.fill()
    else context.stroke()
    if (state !== 'held') continue
    context.beginPath()
    eachSeen(map, view, (index, x, y) => {
      if (states[index] === number) halfDisc(context, x, y, radius)
    })
    context.fill()
  }
  if (map.spacing * view.scale >= NUMBERS_FROM) drawNumbers(context, view, colours, map, states)
}

function drawNumbers(context: Context, view: View, colours: Colours, map: Hall, states: Uint8Array): void {
  const radius = radiusOf(map, view)
  context.font = `${Math.min(14, radius)}px system-ui, sans-serif`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  eachSeen(map, view, (index, x, y) => {
    const state = STATES[states[index] ?? 0]
    if (state !== 'free' && state !== 'sold') return
    context.fillStyle = state === 'sold' ? colours.card : colours.ink
    context.fillText(map.seats[index]?.number ?? '', x, y, radius * 1.8)
  })
}

/** Draws the names of sections whose seats are too small for numbers, and of those without seats. */
function drawNames(context: Context, view: View, colours: Colours, { sections, spacing }: Hall): void {
  context.font = '600 12px system-ui, sans-serif'
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.lineWidth = 4
  context.strokeStyle = colours.card
  context.fillStyle = colours.ink
  for (const { name, outline, seats, center } of sections) {
    if (outline.length === 0 || (seats.length > 0 && spacing * view.scale >= NAMES_BELOW)) continue
    const [x, y] = [view.x + center[0] * view.scale, view.y + center[1] * view.scale]
    context.strokeText(name, x, y)
    context.fillText(name, x, y)
  }
}

function drawFrame(context: Context, view: View, colours: Colours, frame: Box | null): void {
  if (!frame) return
  context.strokeStyle = colours.accent
  context.lineWidth = 1.5
  context.setLineDash([5, 4])
  const [x, y] = [view.x + frame.x0 * view.scale, view.y + frame.y0 * view.scale]
  context.strokeRect(x, y, (frame.x1 - frame.x0) * view.scale, (frame.y1 - frame.y0) * view.scale)
  context.setLineDash([])
}

// -- Shapes, added to the path --------------------------------------------------------------------------------------

type Shape = (context: Context, x: number, y: number, radius: number) => void

const circle: Shape = (context, x, y, radius) => {
  context.moveTo(x + radius, y)
  context.arc(x, y, radius, 0, FULL)
}
const halfDisc: Shape = (context, x, y, radius) => {
  context.moveTo(x + radius, y)
  context.arc(x, y, radius, 0, FULL / 2)
  context.closePath()
}
const cross: Shape = (context, x, y, radius) => {
  const reach = radius * 0.8
  context.moveTo(x - reach, y - reach)
  context.lineTo(x + reach, y + reach)
  context.moveTo(x + reach, y - reach)
  context.lineTo(x - reach, y + reach)
}
const square: Shape = (context, x, y, radius) => context.rect(x - radius, y - radius, 2 * radius, 2 * radius)

const SHAPES: Readonly<Record<SeatState, Shape>> = { free: circle, held: circle, sold: circle, blocked: cross }
