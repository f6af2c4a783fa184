/**
 * The map of a hall. Only the page of a turn in a sale with a hall loads it. It writes the chosen seats into the
 * page's own form, so that they are reserved like any other unit. Without the map the form still works.
 */
import type { ChartDocument } from '../../../shared/api/hall.ts'
import {
  ARROWS,
  type Arrow,
  boxOf,
  FREE,
  type Hall,
  HELD,
  hallOf,
  isInside,
  neighbourOf,
  type Seat,
  type Section,
} from '../../../shared/hall/hall-model.ts'
import { Camera } from './camera.ts'
import { type Filter, fits, freeByCategory, mixedSections } from './choice.ts'
import { inksOf, Painter, type Scene } from './drawing.ts'
import { filtersOf } from './filters.ts'
import { MiniMap } from './mini-map.ts'
import { element, Names, SeatList } from './parts.ts'
import { showPicked } from './picked.ts'
import { legendOf, planOf } from './plan.ts'
import { Feed, type SeatData } from './seat-updates.ts'
import { Selection } from './selection.ts'
import { Tabs, type ViewName } from './tabs.ts'

/** Closer seats are too near each other for a finger, so a press zooms in first. */
const FINGER_PX = 24
const MOUSE_PX = 12
/** A press reaches this far around its point in pixels, so its target is 44 pixels wide. */
const REACH_PX = 22
const CHART_WITHIN_MS = 15_000
/** The chart's address may show a new version a moment later. */
const NEW_CHART_AFTER_MS = 2_000
/** A higher resolution is not visible, and costs time. */
const MAX_DENSITY = 2
/** The hall that was shown last. The response to the form shows it again. */
let latest: { readonly key: string; readonly hall: Hall } | null = null
let currentMap: HallMap | null = null

/**
 * Shows the hall in its place on the page, which the first script has inserted. `chosen` are the seats that the visitor
 * chose in an earlier version of the hall.
 */
export async function start(place: HTMLElement, chosen: readonly Seat[] = []): Promise<void> {
  currentMap?.stop()
  currentMap = null
  const sale = `/sales/${document.getElementById('stage')?.dataset.sale}`
  const hall = await hallAt(sale, place.dataset.version ?? '')
  if (place.isConnected) currentMap = new HallMap(place, hall, sale, chosen)
}

async function hallAt(sale: string, version: string): Promise<Hall> {
  const key = `${sale} ${version}`
  if (latest?.key === key) return latest.hall
  const response = await fetch(`${sale}/chart?v=${version}`, { signal: AbortSignal.timeout(CHART_WITHIN_MS) })
  if (!response.ok) throw new Error(`chart: ${response.status}`)
  const hall = hallOf((await response.json()) as ChartDocument)
  // The address of an old version redirects to the current one.
  latest = { key: `${sale} ${hall.version}`, hall }
  return hall
}

class HallMap {
  readonly #place: HTMLElement
  readonly #form: HTMLFormElement | null
  readonly #hall: Hall
  readonly #names: Names
  readonly #seatData: SeatData
  readonly #feed: Feed
  readonly #list: SeatList
  readonly #painter: Painter
  readonly #stop = new AbortController()
  readonly #canvas = element('canvas', { tabindex: '0', role: 'application', 'aria-describedby': 'hall-keys' })
  readonly #mini: MiniMap
  readonly #drawn = element('div')
  readonly #filters: ReturnType<typeof filtersOf>
  readonly #tabs: Tabs
  /** The section that the visitor is in, or was in last. */
  #section: Section | null = null
  readonly #readout = element('p', { class: 'hall-readout' })
  readonly #camera: Camera
  readonly #selection: Selection
  #active: Seat | null = null
  #filter: Filter = { category: null, accessible: false }
  #isDue = false
  /** The sections whose seats have been read. */
  readonly #known = new Set<Section>()

  constructor(place: HTMLElement, hall: Hall, sale: string, chosen: readonly Seat[]) {
    this.#place = place
    this.#form = place.closest('form')
    this.#hall = hall
    this.#mini = new MiniMap(hall)
    this.#names = new Names(place.dataset, document.documentElement.lang, place.dataset.currency ?? 'EUR')
    const { hallTab = '', listTab = '' } = this.#names.texts
    this.#tabs = new Tabs({ labels: { hall: hallTab, list: listTab }, onPress: (view) => this.#onTab(view) })
    this.#seatData = { hall, states: new Uint8Array(hall.seats.length).fill(HELD), counts: new Map() }
    this.#list = new SeatList({
      hall,
      names: this.#names,
      states: () => this.#seatData.states,
      counts: this.#seatData.counts,
      isChosen: (seat) => this.#selection.seats.includes(seat),
      filter: () => this.#filter,
      onPress: (seat) => this.#press(seat),
      onOpen: () => this.#feed.hurry(),
    })
    this.#filters = filtersOf(hall, this.#names, (changes) => this.#filterBy(changes))
    this.#build()
    this.#painter = new Painter(this.#canvas, inksOf(place))
    this.#camera = new Camera(this.#canvas, hall, () => this.#onMove(), this.#stop.signal)
    this.#feed = new Feed({
      sale,
      data: this.#seatData,
      neededSections: () => this.#neededSections(),
      countedSections: mixedSections(hall),
      onChange: (section) => this.#onChange(section),
      onNewChart: (version) => {
        place.dataset.version = String(version)
        this.stop()
        const onLost = () => place.replaceChildren(place.dataset.away ?? '')
        setTimeout(() => void start(place, this.#selection.seats).catch(onLost), NEW_CHART_AFTER_MS)
      },
    })
    this.#selection = new Selection({
      ...{ hall, sale, names: this.#names, form: this.#form, limit: Number(place.dataset.limit) },
      signal: this.#stop.signal,
      onChange: () => this.#showChoice(),
      onOffer: (seats) => this.#camera.toSeats(seats),
      warn: (text) => this.#warn(text),
    })
    this.#selection.take(chosen)
    this.#listen()
    this.#camera.fit(false)
    this.#feed.start()
    this.#showPicked()
    this.#selection.replaceRemoved(chosen)
  }

  stop(): void {
    this.#stop.abort()
    this.#feed.stop()
  }

  // -- The page -----------------------------------------------------------------------------------------------------

  #build(): void {
    const { texts } = this.#names
    this.#canvas.setAttribute('aria-label', texts.map ?? '')
    const plan = planOf(this.#canvas, this.#mini.element, texts, {
      closer: () => this.#camera.closer(),
      farther: () => this.#camera.farther(),
      fit: () => this.#camera.fit(),
    })
    this.#list.element.hidden = true
    this.#drawn.append(plan, this.#readout, legendOf(texts))
    this.#place.replaceChildren(
      this.#filters.element,
      this.#drawn,
      element('p', { class: 'sr', id: 'hall-keys' }, texts.mapKeys ?? ''),
      this.#list.element,
    )
    // The best seats are folded to leave space for the map, unless the visitor has typed something there.
    const best = document.getElementById('best') as HTMLDetailsElement | null
    if (best && !best.querySelector<HTMLInputElement>('[name=best-quantity]')?.value) best.open = false
  }

  #onTab(view: ViewName): void {
    this.#list.element.hidden = view !== 'list'
    this.#drawn.hidden = view === 'list'
    if (view === 'hall') this.#camera.fit()
    else if (view === 'section') this.#onSection(this.#section ?? undefined)
    this.#showWhere()
  }

  #filterBy(changes: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...changes }
    this.#list.update()
    this.#redraw()
  }

  // -- Moving -------------------------------------------------------------------------------------------------------

  #listen(): void {
    const { signal } = this.#stop
    this.#canvas.addEventListener('click', (event) => this.#onClick(event as PointerEvent), { signal })
    this.#canvas.addEventListener('pointermove', (event) => this.#onHover(event), { signal })
    this.#canvas.addEventListener('keydown', (event) => this.#onKey(event), { signal })
    this.#canvas.addEventListener('blur', () => this.#point(null), { signal })
    this.#form?.addEventListener('input', () => this.#showPicked(), { signal })
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
      matchMedia(query).addEventListener(
        'change',
        () => {
          this.#painter.inks = inksOf(this.#place)
          this.#redraw()
        },
        { signal },
      )
  }

  #onMove(): void {
    this.#showWhere()
    this.#redraw()
    this.#feed.hurry()
  }

  /** Shows the visible part of the hall on the small map, and the section of the middle seat on its tab. */
  #showWhere(): void {
    const camera = this.#camera
    const { width, height } = camera.size
    const isNear = camera.showsSeats && camera.isInside
    const around = camera.lengthOf(Math.max(width, height) / 2)
    const seat = isNear ? this.#hall.grid.nearest(camera.middle, around) : null
    if (seat) this.#section = seat.section
    const view = this.#drawn.hidden ? 'list' : isNear && this.#section ? 'section' : 'hall'
    this.#tabs.show(view, this.#section)
    this.#mini.show(camera.box)
  }

  // -- Pressing -----------------------------------------------------------------------------------------------------

  #onClick(event: PointerEvent): void {
    const camera = this.#camera
    const point = camera.pointOf(event)
    const needed = event.pointerType === 'mouse' ? MOUSE_PX : FINGER_PX
    const seat = this.#hall.grid.nearest(point, camera.lengthOf(REACH_PX))
    if (seat && camera.apart >= needed) this.#press(seat)
    else if (seat && camera.showsSeats) camera.near([seat.x, seat.y])
    else this.#onSection(this.#hall.sections.find(({ outline }) => isInside(point, outline)))
  }

  #onSection(section: Section | undefined): void {
    if (!section) return
    if (section.seats.length === 0) this.#toUnits(section)
    else this.#camera.toSection(section)
  }

  /** A standing section is chosen by the number of its places, here or in the cart. */
  #toUnits({ id }: Section): void {
    this.#form
      ?.querySelector<HTMLElement>(`[name="places:${CSS.escape(id)}"]:not([type=hidden]), .bar > .button`)
      ?.focus()
  }

  #onHover(event: PointerEvent): void {
    if (event.pointerType !== 'mouse' || event.buttons > 0) return
    const camera = this.#camera
    const seat = camera.showsSeats ? this.#hall.grid.nearest(camera.pointOf(event), camera.lengthOf(MOUSE_PX)) : null
    this.#canvas.classList.toggle('on-seat', seat !== null && this.#seatData.states[seat.index] === FREE)
    this.#readout.textContent = seat ? this.#names.described(seat, this.#seatData.states) : ''
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key in ARROWS) this.#go(event.key as Arrow)
    else if ((event.key === 'Enter' || event.key === ' ') && this.#active) this.#press(this.#active)
    else if (event.key === '+' || event.key === '=') this.#camera.closer()
    else if (event.key === '-') this.#camera.farther()
    else if (event.key === 'Escape') this.#camera.fit()
    else return
    // Enter would otherwise send the form.
    event.preventDefault()
  }

  #go(arrow: Arrow): void {
    const camera = this.#camera
    const next = this.#active
      ? neighbourOf(this.#hall, this.#active, arrow)
      : this.#hall.grid.nearest(camera.middle, Number.MAX_SAFE_INTEGER)
    if (!next) return
    this.#point(next)
    this.#say(this.#names.described(next, this.#seatData.states))
    const point = [next.x, next.y] as const
    if (camera.apart < FINGER_PX || camera.isAtEdge(point, REACH_PX)) camera.near(point)
  }

  #point(seat: Seat | null): void {
    this.#active = seat
    this.#readout.textContent = seat ? this.#names.described(seat, this.#seatData.states) : ''
    this.#redraw()
  }

  #press(seat: Seat): void {
    if (!this.#selection.seats.includes(seat) && this.#seatData.states[seat.index] !== FREE) {
      this.#say(this.#names.described(seat, this.#seatData.states))
      return
    }
    if (!this.#selection.toggle(seat)) return
    const { texts, all, whole } = this.#names
    this.#say(`${texts.yourSeats}: ${all(this.#selection.seats.map(whole)) || '0'}`)
  }

  // -- The choice ---------------------------------------------------------------------------------------------------

  #neededSections(): ReadonlySet<Section> {
    const { sections } = this.#hall
    const wanted = new Set<Section>(this.#list.open())
    for (const { section } of this.#selection.seats) wanted.add(section)
    if (!this.#camera.showsSeats) return wanted
    const { x0, y0, x1, y1 } = this.#camera.box
    for (const section of sections) {
      const box = boxOf(section.outline, 0)
      if (box.x1 >= x0 && box.x0 <= x1 && box.y1 >= y0 && box.y0 <= y1) wanted.add(section)
    }
    return wanted
  }

  #onChange(section?: Section): void {
    if (section) this.#known.add(section)
    // A seat counts as taken until its section has been read.
    this.#selection.leaveTaken(({ section: of }) => this.#known.has(of), this.#seatData.states)
    this.#filters.count(freeByCategory(this.#hall, this.#seatData.states, this.#seatData.counts, this.#known))
    if (section) this.#list.update(section)
    else this.#showCounts()
    this.#redraw()
  }

  #showCounts(): void {
    for (const [id, free] of this.#seatData.counts) {
      const small = this.#form?.querySelector(`[data-units="${CSS.escape(id)}"]`)
      if (!small) continue
      small.textContent = this.#names.left(free)
      const input = this.#form?.querySelector<HTMLInputElement>(`[name="places:${CSS.escape(id)}"]`)
      if (input && free > 0) input.disabled = false
    }
    this.#list.update()
  }

  #showChoice(): void {
    this.#list.update()
    this.#showPicked()
    this.#redraw()
  }

  #showPicked(): void {
    showPicked({
      ...{ names: this.#names, form: this.#form, chosen: this.#selection.seats },
      isOffer: this.#selection.offered.length > 0,
      onTakeOut: (seat) => this.#takeOut(seat),
      onAnother: () => this.#selection.findAnother(),
    })
  }

  #takeOut(seat: Seat): void {
    this.#press(seat)
    const left = document.querySelector<HTMLElement>('#cart-choice button') ?? this.#canvas
    left.focus()
  }

  // -- Saying and drawing -------------------------------------------------------------------------------------------

  /** Announces a text to a screen reader. */
  #say(text: string): void {
    const live = document.getElementById('announcement')
    if (live) live.textContent = text
  }

  /** Shows a text next to the map and announces it. */
  #warn(text: string): void {
    this.#readout.textContent = text
    this.#say(text)
  }

  #redraw(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      if (this.#place.isConnected) this.#painter.draw(this.#scene())
      else this.stop()
    })
  }

  #scene(): Scene {
    return {
      hall: this.#hall,
      states: this.#seatData.states,
      chosen: this.#selection.seats,
      offered: new Set(this.#selection.offered),
      active: this.#active,
      view: this.#camera.view,
      ...this.#camera.size,
      density: Math.min(MAX_DENSITY, devicePixelRatio || 1),
      fits: (seat) => fits(seat, this.#filter),
      label: ({ name, id, priceFrom }) => {
        const price = priceFrom === null ? '' : this.#names.fill('from', { m: this.#names.money(priceFrom) })
        const free = this.#seatData.counts.get(id)
        if (free === 0) return [name, this.#names.left(free), '']
        return [name, price, free === undefined ? '' : this.#names.fill('freeSeats', { n: this.#names.count(free) })]
      },
      stage: this.#names.texts.stage ?? '',
    }
  }
}
