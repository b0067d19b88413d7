import type { BODY_FIXTURES } from '../../../kernel/faults/body-fixtures.ts'

/** A body that comes with the emulator. */
export interface ReadyBody {
  /** Undefined: the Content-Type of the answer stays. */
  readonly type: string | undefined
  readonly text: string
}

const HTML = 'text/html; charset=utf-8'

const BODIES: Readonly<Record<(typeof BODY_FIXTURES)[number], ReadyBody>> = {
  'html-error': {
    type: HTML,
    text: `<!doctype html>
<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>gateway</center>
</body>
</html>
`,
  },
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

/** The body that a `body` fault names as its fixture; undefined for an unknown name. */
export function readyBody(name: string): ReadyBody | undefined {
  return Object.hasOwn(BODIES, name) ? BODIES[name as keyof typeof BODIES] : undefined
}
