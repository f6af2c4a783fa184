/** Signing in: the page for it, and the dialog over a page whose session has ended. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { clock } from '../../../../shared/format.ts'
import { textIn, time } from '../format.ts'
import { Failure, useSubmit } from '../parts.tsx'
import { offersService, readSession, session, signedOutMs, signIn } from '../session.ts'
import { Dialog } from '../sheet/dialog.tsx'

export function SignInPage() {
  const { onSubmit, error } = useSubmit((form) => signIn(textIn(form, 'key')).then(() => undefined))
  return (
    <main class="sign-in" id="main">
      <form onSubmit={onSubmit}>
        <h1>Console</h1>
        <label class="label">
          Your key
          <span class="field">
            <input type="password" name="key" autocomplete="current-password" required autofocus />
          </span>
        </label>
        <Failure error={error} />
        <button type="submit" class="btn primary tall">
          Sign in
        </button>
        {offersService.value && (
          <a class="btn tall" href="/console/sign-in">
            Sign in with your company account
          </a>
        )}
        <p class="small quiet">
          An owner makes a key with <code>npm run operator -- add NAME --role ROLE</code>. The admin token works too.
        </p>
      </form>
    </main>
  )
}

const TICK_MS = 1_000

/** Lies over the page, which stays as it was with all that was typed. Signing in sends nothing of it. */
export function SignedOut() {
  const sinceMs = signedOutMs.value
  const operator = session.value
  const nowMs = useSignal(Date.now())
  const { onSubmit, error } = useSubmit((form) => signIn(textIn(form, 'key')).then(() => undefined))
  const isOut = sinceMs !== null
  useEffect(() => {
    if (!isOut) return
    const timer = setInterval(() => (nowMs.value = Date.now()), TICK_MS)
    // The company's service is used in another tab, so this one looks when it is seen again.
    const look = () => void readSession().catch(() => {})
    addEventListener('focus', look)
    return () => {
      clearInterval(timer)
      removeEventListener('focus', look)
    }
  }, [isOut])
  if (sinceMs === null || operator === null || operator === 'unknown') return null
  return (
    <Dialog
      isOpen
      closes={false}
      title="You were signed out. Nothing is lost."
      sub={`At ${time(new Date(sinceMs).toISOString())}. The page behind stays as it was for ${clock(
        'en',
        Math.max(0, nowMs.value - sinceMs) / 1000,
      )}, with what you typed. The sale goes on.`}
      onClose={() => {}}
    >
      <form class="stack" onSubmit={onSubmit}>
        {offersService.value && (
          <a class="btn primary tall" href="/console/sign-in" target="_blank" rel="noreferrer">
            Sign in with your company account, in another tab
          </a>
        )}
        <label class="label">
          {offersService.value ? 'Or with your key' : 'Your key'}
          <span class="field">
            <input type="password" name="key" autocomplete="current-password" required autofocus />
          </span>
        </label>
        <Failure error={error} />
        <button type="submit" class={offersService.value ? 'btn tall' : 'btn primary tall'}>
          Sign in
        </button>
        <p class="small quiet">
          As {operator.name} you are back where you were, and nothing is sent by signing in. As somebody else you begin
          anew.
        </p>
      </form>
    </Dialog>
  )
}
