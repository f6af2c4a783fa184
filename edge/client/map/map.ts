/**
 * The map of a hall: loaded on the page of a turn in a sale that has one, and only there. It puts the seats that the visitor
 * chooses into the page's own form, so that they are reserved like anything else; without it, that form still works.
 */
import { select } from 'd3-selection'
import 'd3-transition'
import { type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom'
import { type Filter, fits, stillFree, toggled, type Units, unitsIn } from './choice.ts'
import { type Inks, Painter, type Scene, seatsAreShown } from './drawing.ts'
import { type Fed, Feed } from './feed.ts'
import {
  type Box,
  boxOf,
  type Chart,
  type Direction,
  FREE,
  type Hall,
  hallOf,
  isInside,
  neighbourOf,
  type Point,
  type Seat,
  SeatGrid,
  type Section,
  TIERS,
} from './hall-model.ts'
import { MiniMap } from './mini-map.ts'
import { element, Names, SeatList } from './parts.ts'
import { Tabs, type ViewName } from './tabs.ts'

/** Neighbours are so far apart at the closest, in pixels. */
const CLOSEST_PX = 64
/** Where a section or a seat is shown so that it can be pressed: neighbours as far apart as a finger is wide. */
const NEAR_PX = 46
/** Closer seats are too near each other for a finger: a press comes nearer first. */
const FINGER_PX = 24
const MOUSE_PX = 12
/** A press reaches so far around, in pixels: 44 across. */
const REACH_PX = 22
const MOVE_MS = 280
/** So much closer than all of the hall counts as all of it. */
const WHOLE = 1.1
const CHART_WITHIN_MS = 15_000
/** The chart's own address may show the new one a moment later. */
const NEW_CHART_AFTER_MS = 2_000
/** Screens that show more gain nothing for the eye, and cost. */
const MAX_DENSITY = 2
const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}
/** As the form's handler reads it (edge/checkout/cart-fields.ts). */
const fieldOf = (section: string, seat: string) => `seat:${section}:${seat}`

/** The hall last shown: the answer to the form shows it again. */
let latest: { readonly key: string; readonly hall: Hall } | null = null
let shown: HallMap | null = null

/** Shows the hall in its place on the page; the first script has put that there. */
export async function start(place: HTMLElement): Promise<void> {
  shown?.stop()
  shown = null
  const sale = `/sales/${document.getElementById('stage')?.dataset.sale}`
  const hall = await hallAt(sale, place.dataset.version ?? '')
  if (place.isConnected) shown = new HallMap(place, hall, sale)
}

async function hallAt(sale: string, version: string): Promise<Hall> {
  const key = `${sale} ${version}`
  if (latest?.key === key) return latest.hall
  const response = await fetch(`${sale}/chart?v=${version}`, { signal: AbortSignal.timeout(CHART_WITHIN_MS) })
  if (!response.ok) throw new Error(`chart: ${response.status}`)
  const hall = hallOf((await response.json()) as Chart)
  // The address of an old version leads to the current one.
  latest = { key: `${sale} ${hall.version}`, hall }
  return hall
}

class HallMap {
  readonly #place: HTMLElement
  readonly #form: HTMLFormElement | null
  readonly #hall: Hall
  readonly #grid: SeatGrid
  readonly #names: Names
  readonly #fed: Fed
  readonly #feed: Feed
  readonly #list: SeatList
  readonly #painter: Painter
  readonly #stop = new AbortController()
  readonly #limit: number
  readonly #canvas = element('canvas', { tabindex: '0', role: 'application', 'aria-describedby': 'hall-keys' })
  readonly #mini: MiniMap
  readonly #drawn = element('div')
  readonly #tabs: Tabs
  /** The section that one is in, or was last in. */
  #section: Section | null = null
  readonly #readout = element('p', { class: 'hall-readout' })
  readonly #zoom = zoom<HTMLCanvasElement, unknown>()
  #transform: ZoomTransform = zoomIdentity
  #chosen: readonly Seat[] = []
  #active: Seat | null = null
  #filter: Filter = { category: null, accessible: false }
  #isDue = false
  #size = { width: 1, height: 1 }
  /** Sections whose seats have been read. */
  readonly #known = new Set<Section>()

  constructor(place: HTMLElement, hall: Hall, sale: string) {
    this.#place = place
    this.#form = place.closest('form')
    this.#hall = hall
    this.#grid = new SeatGrid(hall)
    this.#mini = new MiniMap(hall)
    this.#limit = Number(place.dataset.limit)
    this.#names = new Names(hall, place.dataset, document.documentElement.lang, place.dataset.currency ?? 'EUR')
    const { hallTab = '', listTab = '' } = this.#names.texts
    this.#tabs = new Tabs({ labels: { hall: hallTab, list: listTab }, onPress: (view) => this.#onTab(view) })
    this.#fed = { hall, states: new Uint8Array(hall.seats.length).fill(1), counts: new Map() }
    this.#list = new SeatList({
      hall,
      names: this.#names,
      states: () => this.#fed.states,
      counts: this.#fed.counts,
      isChosen: (seat) => this.#chosen.some(({ index }) => index === seat.index),
      filter: () => this.#filter,
      onPress: (seat) => this.#press(seat),
      onOpen: () => this.#feed.hurry(),
    })
    this.#build()
    this.#painter = new Painter(this.#canvas, this.#inks())
    this.#feed = new Feed({
      sale,
      fed: this.#fed,
      wanted: () => this.#wanted(),
      onChange: (section) => this.#onChange(section),
      onNewChart: (version) => {
        place.dataset.version = String(version)
        this.stop()
        const onLost = () => place.replaceChildren(place.dataset.away ?? '')
        setTimeout(() => void start(place).catch(onLost), NEW_CHART_AFTER_MS)
      },
    })
    this.#takeChosen()
    this.#listen()
    this.#fit(false)
    this.#feed.start()
    this.#showCart()
  }

  stop(): void {
    this.#stop.abort()
    this.#feed.stop()
  }

  // -- The page ----------------------------------------------------------------------------------------------------------

  #build(): void {
    const { texts } = this.#names
    const button = (label: string | undefined, sign: string, act: () => void) => {
      const made = element('button', { type: 'button', class: 'icon-button', 'aria-label': label ?? '' }, sign)
      made.addEventListener('click', act)
      return made
    }
    this.#canvas.setAttribute('aria-label', texts.map ?? '')
    const legend = (kind: string, text: string | undefined) =>
      element('li', {}, element('i', { class: `dot ${kind}` }), text ?? '')
    const plan = element(
      'div',
      { class: 'hall-plan', dir: 'ltr' },
      this.#canvas,
      this.#mini.element,
      element(
        'div',
        { class: 'hall-zoom' },
        button(texts.zoomIn, '+', () => this.#zoomBy(1.6)),
        button(texts.zoomOut, '−', () => this.#zoomBy(1 / 1.6)),
        button(texts.whole, '⤢', () => this.#fit()),
      ),
    )
    this.#list.element.hidden = true
    const legends = element(
      'ul',
      { class: 'row legend small quiet' },
      legend('mine', texts.yours),
      legend('c1', texts.free),
      legend('taken', texts.occupied),
      legend('square', texts.wheelchair),
    )
    this.#drawn.append(plan, this.#readout, legends)
    this.#place.replaceChildren(
      this.#filters(),
      this.#drawn,
      element('p', { class: 'sr', id: 'hall-keys' }, texts.mapKeys ?? ''),
      this.#list.element,
    )
    // The best seats are one press away, and leave the map its room; but what was typed there stays in sight.
    const best = document.getElementById('best') as HTMLDetailsElement | null
    if (best && !best.querySelector<HTMLInputElement>('[name=best-quantity]')?.value) best.open = false
  }

  #onTab(view: ViewName): void {
    this.#list.element.hidden = view !== 'list'
    this.#drawn.hidden = view === 'list'
    if (view === 'hall') this.#fit()
    else if (view === 'section') this.#onSection(this.#section ?? undefined)
    this.#showWhere()
  }

  /** Prices, with the strength that their seats have, and wheelchair places. */
  #filters(): HTMLElement {
    const { texts } = this.#names
    const prices = new Map<string, number>()
    for (const { category, price_minor } of this.#hall.seats)
      prices.set(category, Math.min(prices.get(category) ?? Infinity, price_minor))
    const choice = (category: string | null, ...content: readonly (Node | string)[]) => {
      const input = element('input', { type: 'radio', name: 'hall-price', class: 'sr', form: '' })
      input.checked = category === null
      input.addEventListener('change', () => this.#filterBy({ category }))
      return element('label', {}, input, ...content)
    }
    const ofPrices = [...prices].map(([category, price]) =>
      choice(
        category,
        element('i', { class: `dot c${this.#hall.tiers.get(category) ?? 1}` }),
        this.#names.money(price),
      ),
    )
    const box = element('input', { type: 'checkbox', class: 'sr', form: '' })
    box.addEventListener('change', () => this.#filterBy({ accessible: box.checked }))
    const accessible = this.#hall.seats.some(({ kind }) => kind === 'accessible')
      ? [element('label', {}, box, element('span', {}, texts.accessible ?? ''))]
      : []
    return element(
      'fieldset',
      {},
      element('legend', { class: 'sr' }, texts.price ?? ''),
      element('div', { class: 'filters' }, choice(null, texts.anyPrice ?? ''), ...ofPrices, ...accessible),
    )
  }

  #filterBy(changes: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...changes }
    this.#list.update()
    this.#redraw()
  }

  /** Probes of the style sheet: a brand, another look or forced colours change what they show. */
  #inks(): Inks {
    const probe = (kind: string) => {
      const dot = element('i', { class: `dot ${kind}`, hidden: true })
      this.#place.append(dot)
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
      font: getComputedStyle(this.#place).fontFamily,
    }
  }

  // -- Moving ------------------------------------------------------------------------------------------------------------

  #listen(): void {
    const { signal } = this.#stop
    const canvas = select(this.#canvas)
    this.#zoom.on('zoom', ({ transform }: { transform: ZoomTransform }) => {
      this.#transform = transform
      this.#showWhere()
      this.#redraw()
      this.#feed.hurry()
    })
    canvas.call(this.#zoom).on('dblclick.zoom', null)
    this.#canvas.addEventListener('click', (event) => this.#onClick(event as PointerEvent), { signal })
    this.#canvas.addEventListener('pointermove', (event) => this.#onHover(event), { signal })
    this.#canvas.addEventListener('keydown', (event) => this.#onKey(event), { signal })
    this.#canvas.addEventListener('blur', () => this.#point(null), { signal })
    this.#form?.addEventListener('input', () => this.#showCart(), { signal })
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
      matchMedia(query).addEventListener(
        'change',
        () => {
          this.#painter.inks = this.#inks()
          this.#redraw()
        },
        { signal },
      )
    const observer = new ResizeObserver(() => this.#onResize())
    observer.observe(this.#canvas)
    signal.addEventListener('abort', () => observer.disconnect())
  }

  #onResize(): void {
    const { clientWidth: width, clientHeight: height } = this.#canvas
    if (width === 0 || (width === this.#size.width && height === this.#size.height)) return
    const before = this.#size
    const wasFitted = Math.abs(this.#transform.k - this.#fitted().k) < 1e-9
    this.#size = { width, height }
    this.#bound()
    if (wasFitted) {
      this.#fit(false)
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

  /** A box in the middle, as large as there is room, but no closer than `closest`. */
  #showing({ x0, y0, x1, y1 }: Box, closest: number): ZoomTransform {
    const { width, height } = this.#size
    const k = Math.min(closest, 0.94 * Math.min(width / (x1 - x0), height / (y1 - y0)))
    return zoomIdentity.translate(width / 2 - ((x0 + x1) / 2) * k, height / 2 - ((y0 + y1) / 2) * k).scale(k)
  }

  #fit(isSlow = true): void {
    const { clientWidth, clientHeight } = this.#canvas
    if (clientWidth > 0) this.#size = { width: clientWidth, height: clientHeight }
    this.#bound()
    this.#moveTo(this.#fitted(), isSlow)
  }

  /** Which part of the hall is in view, by the small map and the tab of the section of the seat in the middle. */
  #showWhere(): void {
    const { width, height } = this.#size
    const isNear = seatsAreShown(this.#hall, this.#transform) && this.#transform.k > WHOLE * this.#fitted().k
    const middle = this.#transform.invert([width / 2, height / 2])
    const seat = isNear ? this.#grid.nearest(middle, Math.max(width, height) / 2 / this.#transform.k) : null
    if (seat) this.#section = this.#hall.sections[seat.section] ?? null
    const view = this.#drawn.hidden ? 'list' : isNear && this.#section ? 'section' : 'hall'
    this.#tabs.show(view, this.#section)
    const [x0, y0] = this.#transform.invert([0, 0])
    const [x1, y1] = this.#transform.invert([width, height])
    this.#mini.show({ x0, y0, x1, y1 })
  }

  #zoomBy(factor: number): void {
    this.#zoom.scaleBy(select(this.#canvas), factor)
  }

  #moveTo(transform: ZoomTransform, isSlow = true): void {
    const canvas = select(this.#canvas)
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
    if (isSlow && !isStill) this.#zoom.transform(canvas.transition().duration(MOVE_MS) as never, transform)
    else this.#zoom.transform(canvas, transform)
  }

  /** Around a point, near enough to press seats with a finger. */
  #near([x, y]: Point): void {
    const k = Math.max(this.#transform.k, NEAR_PX / this.#hall.spacing)
    const { width, height } = this.#size
    this.#moveTo(zoomIdentity.translate(width / 2 - x * k, height / 2 - y * k).scale(k))
  }

  // -- Pressing ----------------------------------------------------------------------------------------------------------

  #pointOf(event: MouseEvent): Point {
    const { left, top } = this.#canvas.getBoundingClientRect()
    return this.#transform.invert([event.clientX - left, event.clientY - top])
  }

  #onClick(event: PointerEvent): void {
    const point = this.#pointOf(event)
    const apart = this.#hall.spacing * this.#transform.k
    const needed = event.pointerType === 'mouse' ? MOUSE_PX : FINGER_PX
    const seat = this.#grid.nearest(point, REACH_PX / this.#transform.k)
    if (seat && apart >= needed) this.#press(seat)
    else if (seat && seatsAreShown(this.#hall, this.#transform)) this.#near([seat.x, seat.y])
    else this.#onSection(this.#hall.sections.find(({ outline }) => isInside(point, outline)))
  }

  #onSection(section: Section | undefined): void {
    if (!section) return
    if (section.seats.length === 0) this.#toUnits(section)
    else this.#moveTo(this.#showing(boxOf(section.outline, this.#hall.spacing), NEAR_PX / this.#hall.spacing))
  }

  /** A standing section is chosen by the number of its places. */
  #toUnits({ id }: Section): void {
    this.#form?.querySelector<HTMLElement>(`[name="places:${CSS.escape(id)}"]`)?.focus()
  }

  #onHover(event: PointerEvent): void {
    if (event.pointerType !== 'mouse' || event.buttons > 0) return
    const isNear = seatsAreShown(this.#hall, this.#transform)
    const seat = isNear ? this.#grid.nearest(this.#pointOf(event), MOUSE_PX / this.#transform.k) : null
    this.#canvas.classList.toggle('on-seat', seat !== null && this.#fed.states[seat.index] === FREE)
    this.#readout.textContent = seat ? this.#names.described(seat, this.#fed.states) : ''
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const direction = ARROWS[event.key]
    if (direction) this.#go(direction)
    else if ((event.key === 'Enter' || event.key === ' ') && this.#active) this.#press(this.#active)
    else if (event.key === '+' || event.key === '=') this.#zoomBy(1.6)
    else if (event.key === '-') this.#zoomBy(1 / 1.6)
    else if (event.key === 'Escape') this.#fit()
    else return
    // Enter would send the form.
    event.preventDefault()
  }

  #go(direction: Direction): void {
    const { width, height } = this.#size
    const middle = this.#transform.invert([width / 2, height / 2])
    const next = this.#active
      ? neighbourOf(this.#hall, this.#active, direction)
      : this.#grid.nearest(middle, Number.MAX_SAFE_INTEGER)
    if (!next) return
    this.#point(next)
    this.#say(this.#names.described(next, this.#fed.states))
    const [x, y] = this.#transform.apply([next.x, next.y])
    const isFar = this.#hall.spacing * this.#transform.k < FINGER_PX
    if (isFar || x < REACH_PX || y < REACH_PX || x > width - REACH_PX || y > height - REACH_PX)
      this.#near([next.x, next.y])
  }

  #point(seat: Seat | null): void {
    this.#active = seat
    this.#readout.textContent = seat ? this.#names.described(seat, this.#fed.states) : ''
    this.#redraw()
  }

  #press(seat: Seat): void {
    const isChosen = this.#chosen.some(({ index }) => index === seat.index)
    if (!isChosen && this.#fed.states[seat.index] !== FREE) {
      this.#say(this.#names.described(seat, this.#fed.states))
      return
    }
    const room = this.#limit - this.#chosen.length - unitsIn(this.#units())
    const next = toggled(this.#chosen, seat, room)
    if (next) this.#chosen = next
    else this.#warn(this.#names.fill('perVisitorTogether', { n: this.#names.count(this.#limit) }))
    this.#showChoice()
    if (next)
      this.#say(`${this.#names.texts.yourSeats}: ${this.#names.all(this.#chosen.map(this.#names.whole)) || '0'}`)
  }

  // -- The choice --------------------------------------------------------------------------------------------------------

  /** The seats that the page came with: those of a form that met a problem, or that are offered in place of taken ones. */
  #takeChosen(): void {
    const came = document.getElementById('chosen-seats')
    const names = [...(came?.querySelectorAll<HTMLInputElement>('input:checked') ?? [])].map(({ name }) => name)
    came?.remove()
    this.#chosen = this.#hall.seats.filter((seat) => names.includes(this.#fieldOf(seat)))
  }

  #fieldOf = (seat: Seat) => fieldOf(this.#hall.sections[seat.section]?.id ?? '', seat.seat_id)

  #wanted(): ReadonlySet<Section> {
    const { sections } = this.#hall
    const wanted = new Set<Section>(this.#list.open())
    for (const { section } of this.#chosen) {
      const of = sections[section]
      if (of) wanted.add(of)
    }
    if (!seatsAreShown(this.#hall, this.#transform)) return wanted
    const { width, height } = this.#size
    const [x0, y0] = this.#transform.invert([0, 0])
    const [x1, y1] = this.#transform.invert([width, height])
    for (const section of sections) {
      const box = boxOf(section.outline, 0)
      if (box.x1 >= x0 && box.x0 <= x1 && box.y1 >= y0 && box.y0 <= y1) wanted.add(section)
    }
    return wanted
  }

  #onChange(section?: Section): void {
    if (section) this.#known.add(section)
    // A seat counts as taken until its section has been read.
    const isKnown = ({ section: of }: Seat) => this.#known.has(this.#hall.sections[of] as Section)
    const { chosen, gone } = stillFree(this.#chosen.filter(isKnown), this.#fed.states)
    if (gone.length > 0) {
      this.#chosen = [...this.#chosen.filter((seat) => !isKnown(seat)), ...chosen]
      this.#warn(this.#names.fill('gone', { seats: this.#names.all(gone.map(this.#names.whole)) }))
      this.#showChoice()
    }
    if (section) this.#list.update(section)
    else this.#showCounts()
    this.#redraw()
  }

  #showCounts(): void {
    for (const [id, free] of this.#fed.counts) {
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
    this.#showCart()
    this.#redraw()
  }

  /** Standing places, products and the best seats: what the form asks for beside the seats of the map. */
  #units(): Units[] {
    const inputs = [...(this.#form?.querySelectorAll<HTMLInputElement>('input[type=number]') ?? [])]
    const least = this.#hall.sections.reduce((a, { priceFrom }) => Math.min(a, priceFrom ?? Infinity), Infinity)
    return inputs.map(({ value, dataset }) => {
      const price = dataset.price === undefined ? least : Number(dataset.price)
      return { quantity: Math.max(0, Math.floor(Number(value) || 0)), price_minor: Number.isFinite(price) ? price : 0 }
    })
  }

  /** The choice with its sum, above the button that reserves it; its fields go with the form. */
  #showCart(): void {
    const { texts } = this.#names
    const place = document.getElementById('cart-choice')
    if (!place) return
    const items = this.#chosen.map((seat) => {
      const name = this.#names.whole(seat)
      const label = this.#names.fill('remove', { seat: name })
      const out = element('button', { type: 'button', class: 'icon-button', 'aria-label': label }, '×')
      out.addEventListener('click', () => this.#takeOut(seat))
      const price = String(seat.price_minor)
      const field = element('input', {
        type: 'hidden',
        name: this.#fieldOf(seat),
        value: '1',
        'data-seat-price': price,
      })
      return element(
        'li',
        {},
        field,
        this.#names.shown(seat),
        element('b', {}, this.#names.money(seat.price_minor)),
        out,
      )
    })
    const isEmpty = items.length === 0 && unitsIn(this.#units()) === 0
    place.replaceChildren(
      ...(items.length > 0
        ? [element('h2', {}, texts.yourSeats ?? ''), element('ul', { class: 'picked' }, ...items)]
        : []),
      ...(isEmpty ? [element('p', { class: 'small quiet' }, texts.chooseFirst ?? '')] : []),
    )
    // For the form's own script, which adds it all up.
    this.#form?.dispatchEvent(new Event('choice'))
  }

  #takeOut(seat: Seat): void {
    this.#press(seat)
    const left = document.querySelector<HTMLElement>('#cart-choice button') ?? this.#canvas
    left.focus()
  }

  // -- Saying and drawing ------------------------------------------------------------------------------------------------

  /** To a screen reader. */
  #say(text: string): void {
    const live = document.getElementById('announcement')
    if (live) live.textContent = text
  }

  /** To everyone: beside the map as well. */
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
    const { k, x, y } = this.#transform
    return {
      hall: this.#hall,
      grid: this.#grid,
      states: this.#fed.states,
      chosen: this.#chosen,
      active: this.#active,
      view: { k, x, y },
      ...this.#size,
      density: Math.min(MAX_DENSITY, devicePixelRatio || 1),
      fits: (seat) => fits(seat, this.#filter),
      label: ({ name, id, priceFrom }) => {
        const price = priceFrom === null ? '' : this.#names.fill('from', { m: this.#names.money(priceFrom) })
        const free = this.#fed.counts.get(id)
        return [name, free === 0 ? this.#names.left(free) : price]
      },
      stage: this.#names.texts.stage ?? '',
    }
  }
}
