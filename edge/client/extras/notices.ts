/**
 * Notifies visitors of their turn while they do something else: by a sound that they switched on, and by the
 * browser's notification if they allow it. Both are off at first, and the choice is stored. The page's title always
 * shows the turn.
 */
import { mayLeave, type Status } from '../../../shared/schedule.ts'
import { byId, loadStored, type Page, type PageState, retitle, show, store, textsOf, write } from '../page.ts'
import { isPushed } from '../push/push-offer.ts'

type Kind = 'sound' | 'notification'
const KINDS: readonly Kind[] = ['sound', 'notification']
const storageKeyOf = (kind: Kind) => `notice ${kind}`
const isOn = (kind: Kind) => loadStored(storageKeyOf(kind)) === 'on' && (kind === 'sound' || isAllowed())

const hasNotifications = () => 'Notification' in globalThis
const isAllowed = () => hasNotifications() && Notification.permission === 'granted'

let audio: AudioContext | null = null

/** A browser plays a sound only after the visitor has pressed something on the page. */
async function unlock(): Promise<void> {
  if (!('AudioContext' in globalThis)) return
  audio ??= new AudioContext()
  if (audio.state === 'suspended') await audio.resume()
}

/** The tones of the sound in hertz, one after the other. */
const TONES = [523.25, 659.25, 783.99]
const TONE_SECONDS = 0.22
const ROUNDS = 3
const VOLUME = 0.25

function sound(rounds = ROUNDS): void {
  if (audio?.state !== 'running') return
  const times = Array.from({ length: rounds }, (_, round) => round * (TONES.length + 2)).flatMap((at) =>
    TONES.map((hertz, i) => [hertz, (at + i) * TONE_SECONDS] as const),
  )
  for (const [hertz, inSeconds] of times) {
    const from = audio.currentTime + inSeconds
    const [tone, volume] = [audio.createOscillator(), audio.createGain()]
    tone.frequency.value = hertz
    volume.gain.setValueAtTime(0, from)
    volume.gain.linearRampToValueAtTime(VOLUME, from + 0.02)
    volume.gain.linearRampToValueAtTime(0, from + TONE_SECONDS)
    tone.connect(volume).connect(audio.destination)
    tone.start(from)
    tone.stop(from + TONE_SECONDS)
  }
}

function notify(title: string, page: Page): void {
  // A push message already notifies the visitor of the turn.
  if (!isOn('notification') || isPushed(page) || document.hasFocus()) return
  try {
    const { name: body = '' } = textsOf('stage')
    const notification = new Notification(title, { body, tag: `turn ${page.sale}`, requireInteraction: true })
    notification.onclick = () => {
      window.focus()
      notification.close()
    }
  } catch {
    // A few phones allow notifications only from a service worker.
  }
}

async function toggle(kind: Kind): Promise<void> {
  const on = !isOn(kind)
  if (on && kind === 'notification' && !isAllowed()) await Notification.requestPermission()
  if (on && kind === 'sound') {
    await unlock()
    // The sound is played once, so that the visitor knows it and its volume.
    sound(1)
  }
  store(storageKeyOf(kind), on ? 'on' : null)
  showButtons()
}

function showButtons(): void {
  for (const kind of KINDS) {
    const button = byId(`notice-${kind}`)
    button?.setAttribute('aria-checked', String(isOn(kind)))
    if (button) button.onclick = () => void toggle(kind)
  }
  show(byId('notice-notification'), hasNotifications() && Notification.permission !== 'denied')
  const { blocked = '' } = textsOf('notices')
  write(byId('notice-blocked'), hasNotifications() && Notification.permission === 'denied' ? blocked : '')
}

let before: Status | null = null
let set: HTMLElement | null = null

/** Restores the stored choice. The browser plays no sound before the visitor has pressed something on this page. */
function remembered(): void {
  if (!isOn('sound')) return
  const press = () => void unlock()
  for (const event of ['pointerdown', 'keydown']) addEventListener(event, press, { once: true })
}

/** The first script detects the turn, even in the background, where a worker provides its timer. */
export function noticeTurn({ page, place }: PageState): void {
  const notices = byId('notices')
  if (notices && notices !== set) {
    if (set === null) remembered()
    set = notices
    showButtons()
  }
  if (!place) return
  show(notices, mayLeave(place.status))
  if (place.status === 'ready' && before !== null && mayLeave(before)) {
    const title = document.querySelector('[data-when=ready] h1')?.textContent ?? ''
    if (title) retitle(title)
    if (isOn('sound')) sound()
    notify(title, page)
  }
  before = place.status
}
