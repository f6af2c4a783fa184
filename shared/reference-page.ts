/** The page `/api` of both halves, which the script of reference/ fills. */

interface ReferenceFiles {
  readonly script: string
  readonly style: string
}

/** The policy allows the page its own script, style and calls, and nothing else. */
export const REFERENCE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
}

export const referencePage = ({ script, style }: ReferenceFiles) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
</head>
<body>
<div id="reference" data-document="/openapi.json"><h1>API reference</h1></div>
<noscript><p>The reference needs JavaScript; <a href="/openapi.json">openapi.json</a> has all of it.</p></noscript>
<script type="module" src="${script}"></script>
</body>
</html>
`
