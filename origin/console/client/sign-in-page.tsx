/** Signing in with an operator's key. */
import { useSignal } from '@preact/signals'
import { Failure } from './parts.tsx'
import { offersService, signIn } from './session.ts'

export function SignInPage() {
  const error = useSignal<unknown>(null)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    error.value = null
    const key = String(new FormData(event.target as HTMLFormElement).get('key') ?? '')
    signIn(key).catch((failure) => {
      error.value = failure
    })
  }
  return (
    <main class="sign-in" id="main">
      <form onSubmit={submit}>
        <h1>Console</h1>
        <label>
          Your key
          <input type="password" name="key" autocomplete="current-password" required autofocus />
        </label>
        <Failure error={error.value} />
        <button type="submit" class="primary">
          Sign in
        </button>
        {offersService.value && (
          <a class="button" href="/console/sign-in">
            Sign in with your company account
          </a>
        )}
        <p class="quiet">
          An owner makes a key with <code>npm run operator -- add NAME --role ROLE</code>. The admin token works too.
        </p>
      </form>
    </main>
  )
}
