/** Names of the built-in bodies, for the field `fixture` of the primitive `body`. */
export const BODY_FIXTURES = ['html-error', 'html-gateway-timeout', 'html-login', 'empty'] as const

interface ReadyBody {
  /** Undefined: the Content-Type of the response stays. */
  readonly type: string | undefined
  readonly text: string
}

const HTML = 'text/html; charset=utf-8'

export const READY_BODIES: Readonly<Record<(typeof BODY_FIXTURES)[number], ReadyBody>> = {
  'html-error': { type: HTML, text: gatewayPage('502 Bad Gateway') },
  'html-gateway-timeout': { type: HTML, text: gatewayPage('504 Gateway Timeout') },
  'html-login': {
    type: HTML,
    text: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign in</title></head>
<body>
<h1>Sign in to continue</h1>
<p>This network asks you to sign in before you go on.</p>
<form method="post" action="/login">
<label>Name <input name="name"></label>
<label>Password <input name="password" type="password"></label>
<button>Sign in</button>
</form>
</body>
</html>
`,
  },
  empty: { type: undefined, text: '' },
}

function gatewayPage(title: string): string {
  return `<!doctype html>
<html>
<head><title>${title}</title></head>
<body>
<center><h1>${title}</h1></center>
<hr><center>gateway</center>
</body>
</html>
`
}
