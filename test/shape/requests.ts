import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, transform } from 'esbuild'
import { parseAst } from 'vitest/node'

/** The extent of source code that one request runs through. */
export interface Passage {
  readonly files: number
  /** The number of calls from a function of one file to a function of another. */
  readonly switches: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

declare global {
  /** Called by every function of the instrumented source, at its start and at its end. */
  var enter: ((file: string) => void) | undefined
  var leave: (() => void) | undefined
}

/** Traces two requests through the source: one page of users, and a batch of two items. Each is sent twice; the second counts. */
export async function requestPassages(project: string): Promise<Readonly<Record<string, Passage>>> {
  // Next to the bundle of the package, so that the files of the package are found.
  const outfile = join(project, 'dist', 'shape.mjs')
  try {
    await build({
      entryPoints: [join(project, 'src/index.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      outfile,
      logLevel: 'error',
      plugins: [
        {
          name: 'instrument',
          setup: ({ onLoad }) => {
            onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => ({
              contents: await instrumented(path, relative(project, path)),
              loader: 'js',
            }))
          },
        },
      ],
    })
    return await follow(outfile)
  } finally {
    rmSync(outfile, { force: true })
  }
}

async function follow(outfile: string): Promise<Readonly<Record<string, Passage>>> {
  const { startEmulator } = (await import(pathToFileURL(outfile).href)) as typeof import('../../src/index.ts')
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  try {
    const send = async (path: string, body?: object): Promise<void> => {
      const response = await fetch(`${emulator.baseUrl}${path}`, {
        headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      await response.text()
    }
    const users = () => send('/organization/teamspaces/teamspace-harbor/users')
    const batch = () =>
      send('/batch-predictions', {
        prompt: 'Read the total.',
        output_schema: { type: 'object' },
        model: 'any-model',
        items: ['1', '2'].map((n) => ({ file_id: `file-invoice-${n}`, custom_id: n })),
      })
    return {
      'a page of users': await passageOf(users),
      'a batch is created': await passageOf(batch),
    }
  } finally {
    await emulator.close()
  }
}

async function passageOf(request: () => Promise<void>): Promise<Passage> {
  await request()
  const seen = new Set<string>()
  const open: string[] = []
  let switches = 0
  globalThis.enter = (file) => {
    seen.add(file)
    if (open.length > 0 && open.at(-1) !== file) switches += 1
    open.push(file)
  }
  globalThis.leave = () => void open.pop()
  await request()
  globalThis.enter = undefined
  globalThis.leave = undefined
  return { files: seen.size, switches }
}

/** The JavaScript of a source file with calls of `enter` and `leave` in each function. */
async function instrumented(path: string, name: string): Promise<string> {
  const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts', target: 'es2022' })
  const inserts: { readonly at: number; readonly text: string }[] = []
  const begin = `globalThis.enter?.(${JSON.stringify(name)});try{`
  const end = '}finally{globalThis.leave?.()}'
  visit(parseAst(code) as unknown as Node, (node) => {
    // Between the steps of a generator or an async function other code runs, so these are not traced.
    const { body, generator, async } = node as { body?: Node; generator?: boolean; async?: boolean } & Node
    if (!/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return
    if (body === undefined || generator === true || async === true) return
    if (body.type === 'BlockStatement') {
      inserts.push({ at: body.start + 1, text: begin }, { at: body.end - 1, text: end })
    } else {
      inserts.push(
        { at: code.lastIndexOf('=>', body.start) + 2, text: `{${begin}return(` },
        { at: node.end, text: `)${end}}` },
      )
    }
  })
  let text = code
  // Of two inserts at one position, the one found later belongs to the inner function.
  for (const { at, text: inserted } of inserts.sort((a, b) => b.at - a.at))
    text = text.slice(0, at) + inserted + text.slice(at)
  return text
}

function visit(node: Node, call: (node: Node) => void): void {
  call(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child as Node, call)
    }
  }
}
