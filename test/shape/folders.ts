import { dirname, join, normalize } from 'node:path'
import type { SourceFile } from './source.ts'

/** A folder of `src`, or files at its top. It may import itself and those before it in {@link FOLDERS}. */
export interface Folder {
  readonly name: string
  /** The question that it answers. */
  readonly question: string
  readonly answer: string
  /** The packages and modules of Node that it may use. */
  readonly packages: readonly string[]
}

/** Modules of Node that need no entry: folders that describe the service may use few of them. */
const ANY_OF_NODE = 'node:'

/** The order of imports. docs/inside/architecture.md shows it. */
export const FOLDERS: readonly Folder[] = [
  {
    name: 'core',
    question: 'How does any emulated service work?',
    answer: 'time, state, requests, faults, log, conduct; no HTTP, no file, no word of this service',
    packages: [
      'zod',
      'fastest-levenshtein',
      'jsonc-parser',
      'tinyqueue',
      're2js',
      'picomatch',
      '@faker-js/faker',
      'node:crypto',
      'node:module',
      'node:util',
      'node:vm',
      'node:zlib',
    ],
  },
  {
    name: 'json-schema',
    question: 'Which value fits a JSON Schema?',
    answer: 'generated, validated by ajv; if it does not fit, generated again, up to a limit',
    packages: [
      'ajv/dist/2020.js',
      'ajv-formats',
      'node:module',
      '@eslint-community/regexpp',
      '@faker-js/faker',
    ],
  },
  {
    name: 'service',
    question: 'What is the Agent Workspace Service?',
    answer: 'resources, presets, error codes, principals, open questions',
    packages: ['zod', 'picomatch', 'croner', 'node:module', 'node:crypto', 'node:net'],
  },
  {
    name: 'adapters',
    question: 'What does core need from the machine?',
    answer: 'storage, scenarios, webhooks',
    packages: ['chokidar', 'jiti', 'lowdb', 'zod', ANY_OF_NODE],
  },
  {
    name: 'endpoints',
    question: 'What has the user added?',
    answer: 'definitions of endpoints, their schemas, OpenAPI documents',
    packages: ['@standard-schema/spec', 'yaml', 'zod', ANY_OF_NODE],
  },
  {
    name: 'server',
    question: 'What listens?',
    answer: 'the API (`http`), the control interface (`control`), consent pages, the files of the dashboard',
    packages: ['express', 'fastest-levenshtein', 'zod', ANY_OF_NODE],
  },
  {
    name: 'control-client',
    question: 'Who calls the control interface?',
    answer: 'one client, over HTTP or in the process',
    packages: ['zod', ANY_OF_NODE],
  },
  {
    name: 'emulator',
    question: 'What puts them together?',
    answer: 'options, sandboxes, OpenAPI and JSON Schema documents, start',
    packages: ['express', 'zod', ANY_OF_NODE],
  },
  {
    name: 'index.ts, vite.ts, vite-client.ts',
    question: 'What does the package export?',
    answer: 'the library and the plugin for Vite',
    packages: ['vite', ANY_OF_NODE],
  },
  {
    name: 'testing',
    question: 'What does a test runner get?',
    answer: 'fixtures, matchers, synced clocks',
    packages: ['vitest', '@playwright/test', ANY_OF_NODE],
  },
  {
    name: 'vitest.ts, playwright.ts',
    question: 'What does the package export for test runners?',
    answer: 'an entry for each runner',
    packages: ['vitest', '@playwright/test', ANY_OF_NODE],
  },
  {
    name: 'dashboard',
    question: 'What does the page show?',
    answer: 'views of the control interface (Preact, signals)',
    packages: ['preact', '@preact/signals', 'lucide', 'jsonc-parser'],
  },
  {
    name: 'terminal',
    question: 'What does every command need?',
    answer: 'options, printing, signals, child processes, start',
    packages: ['commander', 'string-width', 'wrap-ansi', 'zod', ANY_OF_NODE],
  },
  {
    name: 'tools',
    question: 'What uses an emulator to judge something?',
    answer: 'certify, hunt, replay, import, drift, mcp',
    packages: ['@modelcontextprotocol/server', 'zod', ANY_OF_NODE],
  },
  {
    name: 'cli',
    question: 'Which commands are there?',
    answer: 'the commands, and the files that `init` writes',
    packages: ['commander', 'zod', ANY_OF_NODE],
  },
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

/** The text of a source file without its comments. */
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
