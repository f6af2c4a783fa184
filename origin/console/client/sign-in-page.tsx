/** The page on which operators sign in with their key. */
import { Failure, textIn, useSubmit } from './parts.tsx'
import { offersService, signIn } from './session.ts'

export function SignInPage() {
  const { onSubmit, error } = useSubmit((form) => signIn(textIn(form, 'key')).then(() => undefined))
  return (
    <main class="sign-in" id="main">
      <form onSubmit={onSubmit}>
        <h1>Console</h1>
        <label>
          Your key
          <input type="password" name="key" autocomplete="current-password" required autofocus />
        </label>
        <Failure error={error} />
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
