/**
 * The map of a hall shows seats by state, and seats are chosen by pointer, finger or keyboard. It scrolls with the
 * page, and dragging with a mouse selects the seats in a rectangle. It is a canvas, because a hall has tens of
 * thousands of seats; `SeatFields` chooses the same seats without a map.
 */
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { money } from '../../../../../shared/format.ts'
import {
  ARROWS,
  type Arrow,
  type Box,
  boxOf,
  type Hall,
  neighbourOf,
  type Point,
  type Seat,
} from '../../../../../shared/hall/hall-model.ts'
import { count } from '../../format.ts'
import { Icon } from '../../sheet/icon.tsx'
import { type Colours, coloursOf, drawHall, drawMarks, type View } from './seat-drawing.ts'
import { countsOf, kindName, rowOf, STATES, seatName, toggleSeats, within } from './seats.ts'

interface HallMapProps {
  readonly map: Hall
  readonly states: Uint8Array
  readonly currency: string
  readonly chosen: ReadonlySet<number>
  readonly onChoose: (seats: ReadonlySet<number>) => void
}

const ZOOM_STEP = 1.6
/** The largest distance between neighbouring seats, and the smallest at which a finger can hit one. */
const [WIDEST_PITCH, FINGER_PITCH] = [44, 24]
/** A press that moves less than this is a click. */
const DRAG_PIXELS = 4

interface Drag {
  readonly from: Point
  isFrame: boolean
}

export function HallMap({ map, states, currency, chosen, onChoose }: HallMapProps) {
  const scroller = useRef<HTMLElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const overlay = useRef<HTMLCanvasElement>(null)
  /** The data that the canvas shows now. */
  const drawn = useRef<readonly unknown[]>([])
  const colours = useRef<Colours | null>(null)
  const drag = useRef<Drag | null>(null)
  const size = useSignal({ width: 0, height: 0 })
  const zoom = useSignal(1)
  const cursor = useSignal(-1)
  const frame = useSignal<Box | null>(null)
  /** The point that a change of the zoom leaves in place. */
  const fixed = useRef<{ readonly point: Point; readonly at: Point } | null>(null)

  const seat = map.seats[cursor.value]
  const { width, height } = size.value
  const { x0: left, y0: top, x1: right, y1: bottom } = map.bounds
  const fit = Math.min(width / (right - left), height / (bottom - top)) || 0
  const most = Math.max(1, WIDEST_PITCH / (map.spacing * fit || 1))
  const scale = fit * Math.min(zoom.value, most)
  const room = { width: Math.max(width, (right - left) * scale), height: Math.max(height, (bottom - top) * scale) }

  /** Calculates the position of the hall, which is centred if it is smaller than its area. */
  function viewNow(): View {
    const [x, y] = [(room.width - (right - left) * scale) / 2, (room.height - (bottom - top) * scale) / 2]
    const { scrollLeft = 0, scrollTop = 0 } = scroller.current ?? {}
    return { width, height, scale, x: x - left * scale - scrollLeft, y: y - top * scale - scrollTop }
  }
  const pointAt = ([x, y]: Point): Point => {
    const view = viewNow()
    return [(x - view.x) / view.scale, (y - view.y) / view.scale]
  }

  const redraw = () => {
    if (!canvas.current || !overlay.current || width === 0) return
    colours.current ??= coloursOf(canvas.current)
    const view = viewNow()
    const shown = [map, states, colours.current, view.scale, view.x, view.y, width, height]
    if (shown.some((part, i) => part !== drawn.current[i])) drawHall(canvas.current, view, colours.current, map, states)
    drawn.current = shown
    const marks = { chosen, cursor: cursor.value, frame: frame.value }
    drawMarks(overlay.current, view, colours.current, map, marks)
  }
  const latest = useRef(redraw)
  latest.current = redraw

  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const measure = () => {
      size.value = { width: element.clientWidth, height: element.clientHeight }
    }
    const again = () => {
      colours.current = null
      latest.current()
    }
    const resized = new ResizeObserver(measure)
    resized.observe(element)
    measure()
    const theme = matchMedia('(prefers-color-scheme: dark)')
    theme.addEventListener('change', again)
    return () => {
      resized.disconnect()
      theme.removeEventListener('change', again)
    }
  }, [])

  useLayoutEffect(() => {
    if (scroller.current && fixed.current) {
      const { point, at } = fixed.current
      fixed.current = null
      const view = viewNow()
      scroller.current.scrollLeft += view.x + point[0] * view.scale - at[0]
      scroller.current.scrollTop += view.y + point[1] * view.scale - at[1]
    }
    redraw()
  })

  function zoomBy(step: number, at: Point = [width / 2, height / 2]): void {
    fixed.current = { point: pointAt(at), at }
    zoom.value = Math.max(1, Math.min(most, Math.min(zoom.value, most) * step))
  }

  function choose(seat: Seat | undefined, isRow: boolean): void {
    if (!seat) return
    cursor.value = seat.index
    onChoose(toggleSeats(chosen, isRow ? rowOf(seat) : [seat.index]))
  }

  // -- Pointer ------------------------------------------------------------------------------------------------------

  const whereOf = (event: PointerEvent): Point => {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    return [event.clientX - left, event.clientY - top]
  }
  const seatUnder = (at: Point) => {
    return map.grid.nearest(pointAt(at), Math.max(map.spacing / 2, 6 / scale)) ?? undefined
  }
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    drag.current = { from: whereOf(event), isFrame: false }
    // A finger scrolls the map, so only other pointers are captured.
    if (event.pointerType !== 'touch') (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
  }
  const onPointerMove = (event: PointerEvent) => {
    if (event.pointerType === 'touch') return
    const at = whereOf(event)
    const start = drag.current
    if (!start) {
      cursor.value = seatUnder(at)?.index ?? -1
      return
    }
    start.isFrame ||= Math.hypot(at[0] - start.from[0], at[1] - start.from[1]) > DRAG_PIXELS
    if (!start.isFrame) return
    frame.value = boxOf([pointAt(start.from), pointAt(at)], 0)
  }
  const onPointerUp = (event: PointerEvent) => {
    const start = drag.current
    drag.current = null
    if (!start) return
    const framed = frame.value
    frame.value = null
    if (framed) return onChoose(new Set([...chosen, ...within(map, framed)]))
    const at = whereOf(event)
    if (event.pointerType === 'touch' && map.spacing * scale < FINGER_PITCH && scale < fit * most)
      return zoomBy(FINGER_PITCH / (map.spacing * scale), at)
    choose(seatUnder(at), event.shiftKey)
  }
  const onPointerCancel = () => {
    drag.current = null
    frame.value = null
  }

  // A finger leaves the map as soon as it has chosen a seat, so only other pointers clear the cursor.
  const onPointerLeave = ({ pointerType }: PointerEvent) => {
    if (pointerType !== 'touch') cursor.value = -1
  }

  // -- Keyboard -----------------------------------------------------------------------------------------------------

  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (key in ARROWS) {
      // The first key leads to the first seat, and at the edge of the hall the seat stays the same.
      const next = seat ? (neighbourOf(map, seat, key as Arrow) ?? seat) : map.seats[0]
      if (!next) return
      cursor.value = next.index
      show(next)
      if (shiftKey) onChoose(new Set([...chosen, next.index]))
    } else if (key === ' ' || key === 'Enter') choose(seat, shiftKey)
    else if (key === 'Escape' && chosen.size > 0) onChoose(new Set())
    else if (key === '+') zoomBy(ZOOM_STEP)
    else if (key === '-') zoomBy(1 / ZOOM_STEP)
    else return
    event.preventDefault()
  }
  /** Scrolls to the seat if it is not visible. */
  function show(seat: Seat): void {
    if (!scroller.current) return
    const view = viewNow()
    const [x, y] = [view.x + seat.x * view.scale, view.y + seat.y * view.scale]
    const margin = 2 * map.spacing * scale
    const past = (at: number, end: number) => (at < margin ? at - margin : at > end - margin ? at - end + margin : 0)
    scroller.current.scrollBy({ left: past(x, width), top: past(y, height) })
  }

  const counts = countsOf(states)
  return (
    <div class="hall-map">
      <header class="row">
        <ul class="key" aria-label="States of the seats on the map">
          {STATES.map((state) => (
            <li key={state}>
              <i class={`seat-mark ${state}`} aria-hidden="true" />
              <b>{count(counts[state])}</b> {state}
            </li>
          ))}
          <li>= {count(states.length)}</li>
        </ul>
        <p class="row end tight-row">
          <button type="button" class="btn" disabled={scale >= fit * most} onClick={() => zoomBy(ZOOM_STEP)}>
            <Icon name="plus" />
            Closer
          </button>
          <button type="button" class="btn" disabled={zoom.value <= 1} onClick={() => zoomBy(1 / ZOOM_STEP)}>
            <Icon name="minus" />
            Farther
          </button>
        </p>
      </header>
      <section
        ref={scroller}
        class="hall-scroll"
        style={`aspect-ratio: ${(right - left) / (bottom - top)}`}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and takes the keys of the map
        tabIndex={0}
        aria-label="Map of the hall"
        aria-describedby="hall-keys"
        onScroll={redraw}
        onKeyDown={onKeyDown}
      >
        <div style={`width: ${room.width}px; height: ${room.height}px`}>
          <canvas ref={canvas} style={`width: ${width}px; height: ${height}px`} />
          <canvas
            ref={overlay}
            style={`width: ${width}px; height: ${height}px`}
            onPointerDown={onPointerDown}
            onPointerMove={onPointerMove}
            onPointerUp={onPointerUp}
            onPointerCancel={onPointerCancel}
            onPointerLeave={onPointerLeave}
          />
        </div>
      </section>
      <p class="hall-seat small" role="status">
        {seat
          ? [
              seatName(seat),
              STATES[states[cursor.value] ?? 0],
              money('en', seat.price_minor, currency),
              seat.category,
              kindName(seat),
              chosen.has(cursor.value) ? 'chosen' : null,
            ]
              .filter(Boolean)
              .join(', ')
          : ' '}
      </p>
      <p id="hall-keys" class="quiet small">
        <span class="by-mouse">Click a seat, Shift and click its row, drag a frame. </span>
        <span class="by-finger">Tap to come closer, then tap seats. </span>
        Keys: arrows go, Space chooses, Shift and Space a row, Escape none, + and − zoom.
      </p>
    </div>
  )
}
