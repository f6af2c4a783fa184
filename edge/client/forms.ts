/**
 * Handles the page's forms. None is sent twice by mistake or while offline. The response to a join is the visitor's
 * own page, and the response to an order's form is the order's page; the script shows both in place.
 */
import { JOINED } from '../pages/view.ts'
import { isOffline } from './connection.ts'
import { byId, each, get, linePath, SLOW_TIMEOUT_MS, TIMEOUT_MS } from './page.ts'
import { countsAsRefresh, loadAnew, showResponse } from './refresh.ts'
import { readNow } from './schedule-reader.ts'

/** Fills in the code from the link, because a page that is the same for all visitors cannot contain it. */
export function fillInvitation(): void {
  const invitation = new URLSearchParams(location.search).get('invitation')
  if (!invitation) return
  each<HTMLInputElement>('[name=invitation]', (input) => {
    input.value ||= invitation
  })
}

/**
 * Keeps a form back while offline, because the browser's error page would replace this one, and a `.once` form that
 * was just sent. An order's form may be sent again soon, because its key makes that harmless. A second join before
 * the first response would get a later place and lose the first.
 */
export function onSubmit(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement
  if (event.defaultPrevented) return
  const offline = isOffline()
  if (offline) byId('offline')?.focus()
  if (offline || form.dataset.sent) {
    event.preventDefault()
    return
  }
  const release = form.matches('.once') && holdBack(form)
  // A button for another language loads a page in it.
  if (!release || event.submitter?.lang || !isAnsweredByPage(form)) return
  event.preventDefault()
  void send(form, release)
}

/** The forms to join, buy, pay and cancel have no other class. Their response is a page. */
const isAnsweredByPage = (form: HTMLFormElement) => form.className === 'once'
const JOIN = /\/queue(\?|$)/
const isJoin = (form: HTMLFormElement) => JOIN.test(form.action)

/** The number of forms sent. Only the response to the last one is shown. */
let sent = 0

/**
 * Sends a form by a request whose response is the page to show. A plain form would need a second request for that
 * page.
 */
async function send(form: HTMLFormElement, release: () => void): Promise<void> {
  const own = ++sent
  // The cast is valid, because the form has only text fields.
  const body = new URLSearchParams(new FormData(form) as unknown as URLSearchParams)
  const headers = { accept: 'text/html' }
  // A join may redirect to another site.
  const redirect = isJoin(form) ? 'manual' : 'follow'
  const post = () => get(form.action, { method: 'POST', headers, body, redirect }, SLOW_TIMEOUT_MS)
  countsAsRefresh()
  try {
    // Tabs join one after the other, so that the second one sends the cookies of the first and gets the same place.
    const response = await (isJoin(form) && navigator.locks ? navigator.locks.request('join', post) : post())
    // The browser blocks cookies, so the place is lost already. The page at this address explains that.
    if (isJoin(form) && response.ok && !document.cookie.includes(JOINED))
      return loadAnew(form.action.replace(JOIN, `/line?${JOINED}&`))
    if (own === sent) await showResponse(response, linePath())
  } catch {
    // If there is no response in time, or it is not a page, the visitor may send the form again.
    release()
    readNow()
  }
}

/** Holds the form back for a while. Returns a function that releases it at once. */
function holdBack(form: HTMLFormElement): () => void {
  form.dataset.sent = 'yes'
  const button = form.querySelector('button')
  button?.setAttribute('aria-disabled', 'true')
  const release = () => {
    delete form.dataset.sent
    button?.removeAttribute('aria-disabled')
  }
  setTimeout(release, isJoin(form) ? SLOW_TIMEOUT_MS : TIMEOUT_MS)
  return release
}
