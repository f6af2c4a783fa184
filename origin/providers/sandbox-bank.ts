/**
 * The page of the sandbox's bank, where a buyer authenticates a payment: what a 3-D Secure challenge is to a real
 * one. It has no script, and says that no money moves.
 */
import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { money } from '../../shared/format.ts'

interface BankCharge {
  readonly charge: string
  readonly order: string
  readonly amountMinor: number
  readonly currency: string
  readonly status: string
  /** The page of the shop to which the buyer returns. */
  readonly returnUrl: string | null
}

const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #eef1f7; --card: #ffffff; --ink: #16203a; --quiet: #56607a; --line: #d9dfec;
  --accent: #274690; --on-accent: #ffffff; --note: #fff5da; --on-note: #5c4300;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d111b; --card: #161c2b; --ink: #e8ecf6; --quiet: #9ca6bf; --line: #2b3550;
    --accent: #9db7ff; --on-accent: #0b1533; --note: #2d2610; --on-note: #f3dc9b;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: clamp(1rem, 5vw, 3rem);
  background: var(--paper); color: var(--ink); font: 1.0625rem/1.55 ui-sans-serif, -apple-system, "Segoe UI", Roboto,
    Ubuntu, Cantarell, "Noto Sans", "Helvetica Neue", Arial, "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; text-size-adjust: 100%;
}
main {
  width: min(100%, 28rem); background: var(--card); border: 1px solid var(--line); border-radius: 18px;
  padding: clamp(1.25rem, 6vw, 2.5rem);
}
h1, p, dl, dd { margin: 0; }
.bank { display: flex; align-items: center; gap: .6rem; font-weight: 600; color: var(--quiet); }
.bank svg { flex: none; width: 1.5rem; height: 1.5rem; }
h1 { margin-top: 1.5rem; font-size: clamp(1.4rem, 1.2rem + 1.2vw, 1.75rem); line-height: 1.2; text-wrap: balance; }
dl { margin: 1.25rem 0; border-block: 1px solid var(--line); }
dl div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .75rem 0; }
dl div + div { border-top: 1px solid var(--line); }
dt { color: var(--quiet); }
.amount { font-size: 1.25rem; font-weight: 650; line-height: 1.3; }
.order { font-size: .9375rem; }
.note { padding: .75rem 1rem; border-radius: 12px; background: var(--note); color: var(--on-note); font-size: .9375rem; }
form { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin-top: 1.5rem; }
button, a.button {
  display: block; min-height: 3rem; padding: .7rem 1rem; border: 1px solid var(--accent); border-radius: 12px;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; cursor: pointer;
}
a.button { margin-top: 1.5rem; }
button.quiet { background: none; color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
@media (forced-colors: active) { button, a.button { border-color: ButtonText; } }
`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** The shop's origin must be in `form-action`: browsers check the redirect after a form, too. */
export const bankHeaders = ({ returnUrl }: Pick<BankCharge, 'returnUrl'>) => ({
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action 'self'${returnUrl === null ? '' : ` ${new URL(returnUrl).origin}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})

const STATES: Readonly<Record<string, string>> = {
  authorized: 'This payment is approved',
  captured: 'This payment is approved',
  declined: 'This payment is declined',
  refunded: 'This payment was refunded',
}

export function bankPage({ charge, order, amountMinor, currency, status, returnUrl }: BankCharge) {
  const isOpen = status === 'requires_action'
  const title = isOpen ? 'Approve this payment?' : (STATES[status] ?? 'This payment has ended')
  const path = `/bank/${encodeURIComponent(charge)}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Bank of the sandbox</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<p class="bank">
<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" aria-hidden="true">
<path d="M3 9.5 12 4l9 5.5zM5.5 9.5v8M10 9.5v8M14 9.5v8M18.5 9.5v8M3 20h18"/></svg>
Bank of the sandbox</p>
<h1>${title}</h1>
<dl>
<div><dt>Amount</dt><dd class="amount">${money('en', amountMinor, currency)}</dd></div>
<div><dt>Order</dt><dd class="order">${order}</dd></div>
</dl>
<p class="note">This is the bank of the sandbox. No money moves.</p>
${
  isOpen
    ? html`<form method="post">
<button formaction="${path}/approve">Approve</button>
<button class="quiet" formaction="${path}/decline">Decline</button>
</form>`
    : returnUrl !== null && html`<a class="button" href="${returnUrl}">Back to the shop</a>`
}
</main>
</body>
</html>`
}
