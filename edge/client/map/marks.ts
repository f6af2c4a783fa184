/**
 * What is written on the map, and where: the texts of a section as far as they fit into it, the names of rows at both
 * edges, and the way to the stage. Nothing is written over anything else. Pure.
 */
import { type Hall, type Point, ROOM, type Seat, type Section } from '../../../shared/hall/hall-model.ts'

/** The transformation from hall to page: scaled by `k`, then moved. */
export interface View {
  readonly k: number
  readonly x: number
  readonly y: number
}

/** The visible part of the map, in pixels. */
export interface Screen {
  readonly view: View
  readonly width: number
  readonly height: number
}

export interface Mark {
  readonly text: string
  readonly x: number
  readonly y: number
  /** True if the mark stays at the edge, because its own place is outside. */
  readonly isStuck: boolean
}

// -- The texts of a section -----------------------------------------------------------------------------------------

export interface Line {
  readonly text: string
  readonly px: number
  readonly weight: 400 | 600
}

const NAME_PX = 14
const SMALL_NAME_PX = 11
const MORE_PX = 12
/** The height of a line as a multiple of its letters, and the space at each side of a text. */
const LINE_HEIGHT = 1.25
const ASIDE_PX = 4

/**
 * The lines of a section's text that fit: the count goes first, then the price, then the name. The name becomes smaller
 * before it goes. `fits` tells whether lines of these widths and heights are inside the section.
 */
export function linesThatFit(
  [name, ...more]: readonly string[],
  widthOf: (line: Line) => number,
  roomFor: (height: number) => number,
): readonly Line[] {
  const named = (px: number): Line[] => (name ? [{ text: name, px, weight: 600 }] : [])
  const others = more.filter((text) => text !== '').map((text): Line => ({ text, px: MORE_PX, weight: 400 }))
  const choices = [
    ...Array.from({ length: others.length + 1 }, (_, without) => [
      ...named(NAME_PX),
      ...others.slice(0, others.length - without),
    ]),
    named(SMALL_NAME_PX),
  ]
  const fits = (lines: readonly Line[]) => {
    const room = roomFor(heightOf(lines)) - 2 * ASIDE_PX
    return lines.every((line) => widthOf(line) <= room)
  }
  return choices.find(fits) ?? []
}

export const heightOf = (lines: readonly Line[]) => lines.reduce((height, { px }) => height + px * LINE_HEIGHT, 0)

/** The width, around a point, of the largest box of this height within an outline; 0 if the box is not inside. */
export function roomIn(outline: readonly Point[], [cx, cy]: Point, height: number): number {
  let least = Infinity
  for (const y of [cy - height / 2, cy, cy + height / 2]) {
    let [left, right] = [-Infinity, Infinity]
    let crossings = 0
    for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
      const [ax, ay] = outline[i] ?? [0, 0]
      const [bx, by] = outline[j] ?? [0, 0]
      if (ay > y === by > y) continue
      const x = ax + ((bx - ax) * (y - ay)) / (by - ay)
      if (x <= cx) {
        left = Math.max(left, x)
        crossings++
      } else right = Math.min(right, x)
    }
    // An even number of edges on one side means that the point is outside.
    if (crossings % 2 === 0) return 0
    least = Math.min(least, cx - left, right - cx)
  }
  return 2 * least
}

// -- The names of rows ----------------------------------------------------------------------------------------------

/** A row's name is written this far outside its section. */
const BESIDE_PX = 9
/** The names of rows that continue outside are this far inside the edge. */
const EDGE_PX = 12

const rows = new WeakMap<Section, readonly (readonly Seat[])[]>()
function rowsOf(section: Section) {
  const known = rows.get(section)
  if (known) return known
  const made = [...Map.groupBy(section.seats, ({ row }) => row).values()]
  rows.set(section, made)
  return made
}

/** The names of the rows in view, at both ends of each; where an end is outside, at the edge of the map. */
export function rowMarks({ sections, spacing }: Pick<Hall, 'sections' | 'spacing'>, screen: Screen): Mark[] {
  const { k, x, y } = screen.view
  const pixels = (seat: Seat): Point => [seat.x * k + x, seat.y * k + y]
  const isSeen = ([px, py]: Point) => px >= 0 && py >= 0 && px <= screen.width && py <= screen.height
  const beside = ROOM * spacing * k + BESIDE_PX
  return sections.flatMap((section) =>
    rowsOf(section).flatMap((seats) => {
      const points = seats.map(pixels)
      return [points, points.toReversed()].flatMap((along): Mark[] => {
        const first = along.findIndex(isSeen)
        const at = along[first]
        if (!at) return []
        // The direction away from the row, or to its next seat outside.
        const next = along[first + 1]
        const [dx, dy] = next ? [at[0] - next[0], at[1] - next[1]] : [along === points ? -1 : 1, 0]
        const length = Math.hypot(dx, dy) || 1
        const end: Point = [at[0] + (dx / length) * beside, at[1] + (dy / length) * beside]
        const stuck: Point = [within(end[0], EDGE_PX, screen.width), within(end[1], EDGE_PX, screen.height)]
        const isStuck = first > 0 || stuck[0] !== end[0] || stuck[1] !== end[1]
        return [{ text: seats[0]?.row ?? '', x: stuck[0], y: stuck[1], isStuck }]
      })
    }),
  )
}

const within = (position: number, margin: number, size: number) => Math.min(size - margin, Math.max(margin, position))

// -- The stage ------------------------------------------------------------------------------------------------------

/** The stage's name is this far from the edges, clear of the buttons and of the small map. */
const STAGE_EDGE_PX = 30
const BUTTONS_PX = 200
const TEXT_HEIGHT_PX = 26

/**
 * Where the name of the stage is: at the focal point, moved out of a section that it would be written over. If that is
 * outside, an arrow at the edge tells the way.
 */
export function stageMark(
  { focalPoint, sections }: Pick<Hall, 'focalPoint' | 'sections'>,
  name: string,
  screen: Screen,
): Mark {
  const { k, x, y } = screen.view
  const [px, own] = [focalPoint.x * k + x, focalPoint.y * k + y]
  const covers = sections.flatMap(({ outline }) => {
    const xs = outline.map(([at]) => at * k + x)
    const ys = outline.map(([, at]) => at * k + y)
    const isBelow = Math.min(...ys) < own + TEXT_HEIGHT_PX / 2 && Math.max(...ys) > own - TEXT_HEIGHT_PX / 2
    return isBelow && Math.min(...xs) < px + BUTTONS_PX / 4 && Math.max(...xs) > px - BUTTONS_PX / 4
      ? [Math.min(...ys)]
      : []
  })
  const py = Math.min(own, ...covers.map((top) => top - TEXT_HEIGHT_PX / 2))
  const stuck: Point = [
    Math.min(screen.width - BUTTONS_PX, Math.max(STAGE_EDGE_PX + 20, px)),
    within(py, STAGE_EDGE_PX, screen.height),
  ]
  const isAbove = py < TEXT_HEIGHT_PX / 2
  const isInside = !isAbove && py <= screen.height && px >= 0 && px <= screen.width
  if (isInside) return { text: name, x: px, y: py, isStuck: false }
  const arrow = isAbove ? '↑' : py > screen.height ? '↓' : px < 0 ? '←' : '→'
  return { text: `${arrow} ${name}`, x: stuck[0], y: stuck[1], isStuck: true }
}
