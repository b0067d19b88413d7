import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { flagOf } from '../../src/terminal/options.ts'
import { anchorsOf, type Block, blocksOf, linksOf, readPages } from './pages.ts'
import { commands, references, withReferences } from './reference.ts'

const pages = readPages()
const blocks = [...pages].flatMap(([page, text]) => blocksOf(page, text))

/** The permitted marks of each language, and the use of such a block. */
const KINDS: Readonly<Record<string, RegExp>> = {
  // Run by run.slow.test.ts, or only checked here (`checked`): commands that build, install or never end.
  sh: /^(checked)?$/,
  // Lines of the output of the block before it; run.slow.test.ts and snippets.slow.test.ts compare them.
  output: /^$/,
  // Type-checked by snippets.slow.test.ts; those marked `test` also run, and those marked `fails` must fail.
  ts: /^(test|fails)?$/,
  js: /^(test)?$/,
  // Run by python.slow.test.ts, those of a page as one file; a test after `fails` must fail.
  python: /^(fails)?$/,
  // Sent to an emulator by snippets.slow.test.ts.
  json: /^(fixtures|settings|scenario|fault|verify|batch|mcp)$/,
  yaml: /^$/,
  mermaid: /^$/,
  // Generated from the clients of the gallery, whose repairs test/gallery runs.
  diff: /^$/,
  nginx: /^$/,
  // Not run: a list of layers or of files.
  text: /^$/,
}

test('the generated tables of the pages match the code; npm run docs updates them', () => {
  for (const [page, text] of pages) expect(withReferences(text), page).toBe(text)
})

test('every generated table is on exactly one page', () => {
  const all = [...pages.values()].join('\n')
  for (const name of Object.keys(references)) {
    expect(all.split(`<!-- ${name} -->`), name).toHaveLength(2)
  }
})

const INDEX = 'docs/README.md'

test('the README has at most 200 lines', () => {
  expect(pages.get('README.md')?.trimEnd().split('\n').length).toBeLessThanOrEqual(200)
})

test('the README links to the index of docs, and the index to every page', () => {
  expect(linksOf(pages.get('README.md') ?? '')).toContain(INDEX)
  const linked = linksOf(pages.get(INDEX) ?? '').map((link) => `docs/${link}`)
  for (const page of pages.keys()) if (!page.endsWith('README.md')) expect(linked).toContain(page)
})

test('every fenced block has a known language and mark', () => {
  for (const { page, line, language, mark } of blocks) {
    expect(KINDS[language], `${page}:${line}: the language "${language}"`).toBeDefined()
    expect(mark, `${page}:${line}: what follows "${language}"`).toMatch(KINDS[language] ?? /$^/)
  }
})

test('every link of a page and of the changelog leads to an existing page and heading', () => {
  for (const [page, text] of [...pages, ['CHANGELOG.md', readFileSync('CHANGELOG.md', 'utf8')] as const]) {
    for (const link of linksOf(text)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      expect(existsSync(target), `${page}: ${link}`).toBe(true)
      if (anchor !== undefined)
        expect(anchorsOf(pages.get(target) ?? ''), `${page}: ${link}`).toContain(anchor)
    }
  }
})

test('every file and folder named in the pages about the code exists', () => {
  for (const page of [
    'docs/inside/architecture.md',
    'docs/inside/contributing.md',
    'docs/guide/testing.md',
  ]) {
    const named = [
      ...(pages.get(page) ?? '').matchAll(
        /`((?:src|core|json-schema|service|adapters|server|client|emulator|testing|dashboard|terminal|tools|cli|test)\/[\w./-]+)`/g,
      ),
    ]
    expect(named.length, page).toBeGreaterThan(0)
    for (const [, path = ''] of named) {
      expect(existsSync(path) || existsSync(join('src', path)), `${page}: ${path}`).toBe(true)
    }
  }
})

test('every command that is not run exists, with its flags', () => {
  const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts)
  for (const block of blocks) {
    if (block.language === 'sh') expect(syntaxErrorsOf(block.code), `${block.page}:${block.line}`).toBe('')
    for (const line of uncheckedLinesOf(block)) {
      const at = `${block.page}:${block.line}: ${line}`
      for (const [, script] of line.matchAll(/\bnpm run (?:-s |--silent )?([\w:-]+)/g))
        expect(scripts, at).toContain(script)
      for (const [, call = ''] of line.matchAll(
        /\bnpx agent-workspace-emulator(?= )(.*?)(?= -- |[;&|#>)`]|$)/g,
      ))
        expectCall(call, at)
    }
  }
})

test('the configurations of MCP clients name an existing command', () => {
  for (const block of blocks.filter(({ mark }) => mark === 'mcp')) {
    const { command, args } = JSON.parse(block.code).mcpServers.workspace
    expect([command, args[0]]).toEqual(['npx', 'agent-workspace-emulator'])
    expectCall(args.slice(1).join(' '), `${block.page}:${block.line}`)
  }
})

test('commands in the text exist, with their flags', () => {
  for (const [page, text] of pages) {
    const prose = text
      .replace(/^```[\s\S]*?^```$/gm, '')
      .replace(/<!-- ([a-z]+) -->[\s\S]*?<!-- \/\1 -->/g, '')
    for (const [, code = ''] of prose.matchAll(/`(?:npx agent-)?workspace-emulator ([^`]*)`/g)) {
      expectCall(code.split(' -- ')[0] ?? '', `${page}: ${code}`)
    }
  }
})

test('the commands of the skill for coding agents exist, with their flags', () => {
  const skill = readFileSync('skills/agent-workspace-emulator/SKILL.md', 'utf8')
  const rows = skill.split('\n').filter((line) => line.startsWith('| `'))
  const calls = rows.flatMap((row) => [...row.matchAll(/`([^`]*)`/g)].map(([, call = '']) => call))
  expect(calls.length).toBeGreaterThan(10)
  for (const call of calls) expectCall(call, `SKILL.md: ${call}`)
})

function uncheckedLinesOf({ language, mark, code }: Block): string[] {
  if (language === 'sh' && mark === 'checked') return code.replaceAll('\\\n', ' ').split('\n')
  if (language === 'yaml') return [...code.matchAll(/run: (.+)/g)].map(([, line = '']) => line)
  return []
}

function syntaxErrorsOf(code: string): string {
  return spawnSync('bash', ['-n'], { input: code }).stderr.toString()
}

/** Expects that the words after `workspace-emulator` are an existing command with flags that it has. */
function expectCall(call: string, at: string): void {
  const words = call.split(/\s+/).filter(Boolean)
  const firstFlag = words.findIndex((word) => word.startsWith('-'))
  const names = firstFlag === -1 ? words : words.slice(0, firstFlag)
  const command =
    commands.find(({ name }) => name === names.slice(0, 2).join(' ')) ??
    commands.find(({ name }) => name === names[0]) ??
    // A group runs its first command.
    commands.find(({ name }) => names.length === 1 && name.startsWith(`${names[0]} `)) ??
    commands.find(({ name }) => names.length === 0 && name === 'start')
  expect(command, `${at}: no such command`).toBeDefined()
  // A command without arguments has no further words: otherwise the second word is a subcommand that does not exist.
  if (names.length > 1 && Object.keys(command?.args ?? {}).length === 0)
    expect(names.join(' '), at).toBe(command?.name)
  const known = [
    '--help',
    '--version',
    ...Object.entries(command?.options ?? {}).flatMap(([name, each]) => [
      flagOf(name, each),
      each.short ?? '',
    ]),
  ]
  for (const flag of words.filter((word) => /^--?[a-z]/.test(word))) expect(known, at).toContain(flag)
}

test('commands that install the package use a tarball, while the registry has no package', () => {
  const installs = blocks
    .flatMap(({ code }) => code.split('\n'))
    .filter((line) => /npm (?:install|i) .*agent-workspace-emulator/.test(line))
  expect(installs.length).toBeGreaterThan(0)
  for (const line of installs) expect(line).toMatch(/agent-workspace-emulator-[\d.]+\.tgz/)
})

// npx asks the registry for a command that is not installed: with the name of the package it cannot get another one.
test('every npx line of a page names the package', () => {
  const all = [...pages, ['SECURITY.md', readFileSync('SECURITY.md', 'utf8')] as const]
  const calls = all.flatMap(([page, text]) =>
    [...text.matchAll(/npx (?:--?[\w-]+ )*([\w@/-]+)/g)].map(([, name]) => [page, name]),
  )
  expect(calls.length).toBeGreaterThan(50)
  const { name: own, bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(calls.filter(([, name = '']) => name.includes('workspace-emulator') && name !== own)).toEqual([])
  expect(Object.keys(bin)).toContain(own)
})
