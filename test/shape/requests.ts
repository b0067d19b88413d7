import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, transform } from 'esbuild'
import { parseAst } from 'vitest/node'

/** The extent of source code that one request runs through. */
export interface Passage {
  /** Paths of the files, in the order in which the request reaches them. */
  readonly files: readonly string[]
  /** The number of calls from a function of one file to a function of another. */
  readonly switches: number
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

interface TracedCall {
  readonly file: string
  isOpen: boolean
}

declare global {
  /** Called by every function of the instrumented source at its start; undefined while no request is traced. */
  var enter: ((file: string) => TracedCall) | undefined
  /** Called at its end, and at each of its awaits, after the operand was evaluated. Returns the operand. */
  var leave: <T>(call: TracedCall | undefined, operand?: T) => T | undefined
}

/**
 * Traces two requests through the source: one page of users, and a batch of two items. The first request of each
 * kind does not count, because it prepares things. Of three others the smallest does: a timer may run during one of them.
 *
 * A call counts as a switch when the function that makes it is known: every function from its start to its end, an async
 * function only to its first `await`. After that, other code runs in between, so the calls that it makes have no known caller;
 * the files that they reach still count. Generators are not traced, because their callers run between their steps.
 */
export async function requestPassages(project: string): Promise<Readonly<Record<string, Passage>>> {
  // Next to the bundle of the package, so that the files of the package are found.
  const outfile = join(project, 'dist', 'shape.mjs')
  globalThis.leave = (_, operand) => operand
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
  const passages = [await traced(request), await traced(request), await traced(request)]
  return passages.reduce((a, b) => (b.files.length + b.switches < a.files.length + a.switches ? b : a))
}

async function traced(request: () => Promise<void>): Promise<Passage> {
  const files = new Set<string>()
  const open: TracedCall[] = []
  let switches = 0
  globalThis.enter = (file) => {
    files.add(file)
    const caller = open.at(-1)
    if (caller !== undefined && caller.file !== file) switches += 1
    const call = { file, isOpen: true }
    open.push(call)
    return call
  }
  globalThis.leave = (call, operand) => {
    if (call?.isOpen === true) {
      call.isOpen = false
      open.pop()
    }
    return operand
  }
  await request()
  globalThis.enter = undefined
  return { files: [...files], switches }
}

/** The JavaScript of a source file with calls of `enter` and `leave` in each function. */
async function instrumented(path: string, name: string): Promise<string> {
  const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts', target: 'es2022' })
  const inserts: { readonly at: number; readonly text: string }[] = []
  const begin = `const $call=globalThis.enter?.(${JSON.stringify(name)});try{`
  const end = '}finally{globalThis.leave($call)}'
  const wrap = (node: Node): void => {
    inserts.push({ at: node.start, text: 'globalThis.leave($call,(' }, { at: node.end, text: '))' })
  }
  visit(parseAst(code) as unknown as Node, false, (node, isTraced) => {
    const { body, generator, argument, right } = node as Partial<
      Record<'body' | 'argument' | 'right', Node>
    > & {
      readonly generator?: boolean
    }
    if (node.type === 'AwaitExpression' && isTraced) wrap(argument as Node)
    if (node.type === 'ForOfStatement' && (node as { await?: boolean }).await === true && isTraced)
      wrap(right as Node)
    if (!FUNCTION.test(node.type)) return isTraced
    if (body === undefined || generator === true) return false
    if (body.type === 'BlockStatement') {
      inserts.push({ at: body.start + 1, text: begin }, { at: body.end - 1, text: end })
    } else {
      inserts.push(
        { at: code.lastIndexOf('=>', body.start) + 2, text: `{${begin}return(` },
        { at: node.end, text: `)${end}}` },
      )
    }
    return true
  })
  let text = code
  // Of two inserts at one position, the one found later belongs to the inner node; only ends share a position.
  for (const { at, text: inserted } of inserts.sort((a, b) => b.at - a.at))
    text = text.slice(0, at) + inserted + text.slice(at)
  return text
}

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/

/** Visits a node, then the nodes in it. @param isTraced whether the innermost function around it is traced, as `call` returned it */
function visit(node: Node, isTraced: boolean, call: (node: Node, isTraced: boolean) => boolean): void {
  const isInnerTraced = call(node, isTraced)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child)
        visit(child as Node, isInnerTraced, call)
    }
  }
}
