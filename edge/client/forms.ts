/** The page's forms: none is sent twice by mistake or while offline, and a join's response is the visitor's own page. */
import { isOffline } from './connection.ts'
import { byId, each, get, linePath, SLOW_TIMEOUT_MS, TIMEOUT_MS } from './page.ts'
import { countsAsRefresh, loadAnew, showResponse } from './refresh.ts'
import { readNow } from './schedule-reader.ts'

/** Fills in the code from the link that led here: a page that is the same for all cannot contain it. */
export function fillInvitation(): void {
  const invitation = new URLSearchParams(location.search).get('invitation')
  if (!invitation) return
  each<HTMLInputElement>('[name=invitation]', (input) => {
    if (input.value === '') input.value = invitation
  })
}

/**
 * Keeps a form back while offline, since the browser's error page would replace this one; and a `.once` form that was just
 * sent. An order's form may be sent again soon, since its key makes that harmless; a second join before the response, and
 * the place with it, has arrived would get a later place and lose the first.
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
  const release = form.matches('.once') ? holdBack(form) : () => {}
  // Without cookies the place would be lost at once: the page that the form leads to says so.
  if (!isJoin(form) || !navigator.cookieEnabled) return
  event.preventDefault()
  void join(form, release)
}

const isJoin = (form: HTMLFormElement) => form.action.endsWith('/queue')

/** Joins by a request whose response is the visitor's own page: the form alone would load that by a second request. */
async function join(form: HTMLFormElement, release: () => void): Promise<void> {
  // The form has text fields only.
  const body = new URLSearchParams(new FormData(form) as unknown as URLSearchParams)
  countsAsRefresh()
  let response: Response
  try {
    response = await get(
      form.action,
      { method: 'POST', headers: { accept: 'text/html' }, body, redirect: 'manual' },
      SLOW_TIMEOUT_MS,
    )
  } catch {
    // Without a response in time, the visitor may send the form again.
    release()
    return readNow()
  }
  await showResponse(response, linePath()).catch(() => loadAnew(linePath()))
}

/** Keeps the form from being sent again for a while. Returns a function that releases it at once. */
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
