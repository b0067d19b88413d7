import { dirname, join, normalize } from 'node:path'
import type { SourceFile } from './source.ts'

/** A folder of `src`, or files at its top. It may import itself and those before it in {@link FOLDERS}. */
export interface Folder {
  readonly name: string
  /** The question that it answers. */
  readonly question: string
  readonly answer: string
  /** The packages and modules of Node that it may use; `node:` is any module of Node. */
  readonly packages: readonly string[]
}

const folder = (name: string, question: string, answer: string, packages: string): Folder => {
  return { name, question, answer, packages: packages.split(' ') }
}

/** The order of imports, with the packages of each folder. docs/inside/architecture.md shows it. */
export const FOLDERS: readonly Folder[] = [
  folder(
    'core',
    'How does any emulated service work?',
    'time, state, requests, faults, log, conduct; no HTTP, no file, no word of this service',
    'zod fastest-levenshtein jsonc-parser tinyqueue re2js picomatch @faker-js/faker node:crypto node:module node:util node:vm node:zlib',
  ),
  folder(
    'json-schema',
    'Which value fits a JSON Schema?',
    'generated, validated by ajv; if it does not fit, generated again, up to a limit',
    'ajv/dist/2020.js ajv-formats node:module @eslint-community/regexpp @faker-js/faker',
  ),
  folder(
    'service',
    'What is the Agent Workspace Service?',
    'resources, presets, error codes, principals, open questions',
    'zod picomatch croner node:module node:crypto node:net',
  ),
  folder(
    'adapters',
    'What does core need from the machine?',
    'storage, scenarios, webhooks',
    'chokidar jiti lowdb zod node:',
  ),
  folder(
    'endpoints',
    'What has the user added?',
    'definitions of endpoints, their schemas, OpenAPI documents',
    '@standard-schema/spec yaml zod node:',
  ),
  folder(
    'server',
    'What listens?',
    'the API (`http`), the control interface (`control`), consent pages, the files of the dashboard',
    'express fastest-levenshtein zod node:',
  ),
  folder(
    'control-client',
    'Who calls the control interface?',
    'one client, over HTTP or in the process',
    'zod node:',
  ),
  folder(
    'emulator',
    'What puts them together?',
    'options, sandboxes, OpenAPI and JSON Schema documents, start',
    'express zod node:',
  ),
  folder(
    'index.ts, vite.ts, vite-client.ts',
    'What does the package export?',
    'the library and the plugin for Vite',
    'vite node:',
  ),
  folder(
    'testing',
    'What does a test runner get?',
    'fixtures, matchers, synced clocks',
    'vitest @playwright/test node:',
  ),
  folder(
    'vitest.ts, playwright.ts',
    'What does the package export for test runners?',
    'an entry for each runner',
    'vitest @playwright/test node:',
  ),
  folder(
    'dashboard',
    'What does the page show?',
    'views of the control interface (Preact, signals)',
    'preact @preact/signals lucide jsonc-parser',
  ),
  folder(
    'terminal',
    'What does every command need?',
    'options, printing, signals, child processes, start',
    'commander string-width wrap-ansi zod node:',
  ),
  folder(
    'tools',
    'What uses an emulator to judge something?',
    'certify, hunt, replay, import, drift, mcp',
    '@modelcontextprotocol/server zod node:',
  ),
  folder(
    'cli',
    'Which commands are there?',
    'the commands, and the files that `init` writes',
    'commander zod node:',
  ),
]

/** The folder of a file, as an index of {@link FOLDERS}; -1 for a file that is in none. */
export function folderOf(path: string): number {
  const top = path.split('/')[0] ?? ''
  return FOLDERS.findIndex(({ name }) => name.split(', ').includes(top))
}

/** The paths below `src` and the packages (`npm:name`) that a file imports, with types and calls of `import()`. */
export function importsOf({ path, text }: SourceFile): string[] {
  const code = withoutComments(text)
  const statements = code.matchAll(/^(?:import|export)\b[^'"`;=(]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm)
  const calls = code.matchAll(/\bimport\(\s*'([^']+)'/g)
  return [...statements, ...calls].map(([, from, alone]) => {
    const target = from ?? alone ?? ''
    return target.startsWith('.') ? normalize(join(dirname(path), target)) : `npm:${target}`
  })
}

export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
}

/** How many imports lead from each folder to each other one, and those that lead upward. */
export function folderImports(files: readonly SourceFile[]) {
  const counts = FOLDERS.map(() => FOLDERS.map(() => 0))
  const upward: string[] = []
  for (const file of files) {
    const from = folderOf(file.path)
    for (const target of importsOf(file)) {
      if (target.startsWith('npm:')) continue
      const to = folderOf(target)
      const row = counts[from]
      if (row !== undefined && from !== to) row[to] = (row[to] ?? 0) + 1
      if (to > from) upward.push(`${file.path} imports ${target}`)
    }
  }
  return { counts, upward }
}
