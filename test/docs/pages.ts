import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** A fenced block of a page. `mark` is the text after the language in its first line. */
export interface Block {
  readonly page: string
  /** The line number of its first line of code. */
  readonly line: number
  readonly language: string
  readonly mark: string
  readonly code: string
}

/** All pages by path: the README and those in docs and its folders. */
export function readPages(): ReadonlyMap<string, string> {
  const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
  return new Map(
    ['README.md', ...docs.map((name) => join('docs', name))].map((path) => [
      path,
      readFileSync(path, 'utf8'),
    ]),
  )
}

export function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(/^```(\S*) ?(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = '', mark = '', code = ''] = match
    return {
      page,
      line: text.slice(0, match.index).split('\n').length + 1,
      language,
      mark: mark.trim(),
      code,
    }
  })
}

/** The anchors of the headings of a page, in the same form as on code hosts. */
export function anchorsOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

/** The targets of the links of a page, except those to other hosts. */
export function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target))
}

/** The commands of the tutorial in an empty folder, for the emulator in the environment variables. */
export function tutorial(): string {
  const page = [...readPages()].find(([name]) => name.endsWith('tutorial.md'))
  const blocks = page === undefined ? [] : blocksOf(...page)
  const commands = blocks.filter(({ language, mark }) => language === 'sh' && mark === '')
  return ['cd "$(mktemp -d)"', ...commands.map(({ code }) => code)]
    .join('\n')
    .replaceAll('http://127.0.0.1:4010', '$WORKSPACE_EMULATOR_URL')
    .replaceAll('npx agent-workspace-emulator', `'${process.execPath}' '${resolve('dist/cli.js')}'`)
}
