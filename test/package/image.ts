import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import picomatch from 'picomatch'
import { pairsOf, type Stage, stagesOf, wordsOf } from './dockerfile.ts'
import { PLAIN_ENV } from './run.ts'

/** The result of a Dockerfile, in a folder that serves as the root of its file system. */
export type Image = ReturnType<typeof buildImage>

/** Runs the steps of a Dockerfile without Docker, each as written; only the `npm ci` for the build is replaced by a link. */
export function buildImage(dockerfile: string) {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-image-'))
  chmodSync(folder, 0o755)
  const built = new Map<string | undefined, StageBuild>()
  let last: StageBuild | undefined
  for (const [index, stage] of stagesOf(dockerfile).entries()) {
    last = new StageBuild(join(folder, `${index}`), stage, built)
    built.set(stage.name, last)
  }
  if (last === undefined) throw new Error('The Dockerfile has no FROM.')
  return Object.assign(last, { remove: () => rmSync(folder, { recursive: true, force: true }) })
}

class StageBuild {
  readonly root: string
  /** The working directory of its processes, a folder in the root. */
  cwd: string
  user: { readonly uid: number; readonly gid: number } | undefined
  readonly env: Record<string, string> = {}
  entrypoint: readonly string[] = []
  command: readonly string[] = []
  healthcheck: readonly string[] = []
  readonly volumes: string[] = []
  readonly #earlier: ReadonlyMap<string | undefined, StageBuild>

  constructor(root: string, stage: Stage, earlier: ReadonlyMap<string | undefined, StageBuild>) {
    this.root = root
    this.cwd = root
    this.#earlier = earlier
    mkdirSync(root)
    for (const { name, text } of stage.instructions) this.#perform(name, text)
  }

  #perform(name: string, text: string): void {
    if (name === 'WORKDIR') this.#enter(text)
    else if (name === 'COPY') this.#copy(text)
    else if (name === 'RUN') this.#run(text)
    else if (name === 'ENV') this.#set(text)
    else if (name === 'USER') this.#become(text)
    else if (name === 'VOLUME') this.volumes.push(text)
    else if (name === 'ENTRYPOINT') this.entrypoint = wordsOf(text)
    else if (name === 'CMD') this.command = wordsOf(text)
    else if (name === 'HEALTHCHECK') this.healthcheck = wordsOf(text.replace(/^.* CMD /, ''))
    else if (!['LABEL', 'EXPOSE', 'STOPSIGNAL'].includes(name)) {
      throw new Error(`The Dockerfile has ${name}, which test/package/image.ts knows nothing about.`)
    }
  }

  #enter(folder: string): void {
    this.cwd = this.#inside(folder)
    mkdirSync(this.cwd, { recursive: true })
  }

  #copy(text: string): void {
    const words = text.split(/\s+/)
    const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
    const target = words.pop() ?? ''
    const isFolder = target.endsWith('/') || words.length > 1
    for (const source of words) {
      const file = from === undefined ? resolve(source) : this.#stage(from).#inside(source)
      if (!existsSync(file)) throw new Error(`COPY ${text}: there is no ${source}.`)
      const into = this.#inside(target)
      const to = isFolder && !statSync(file).isDirectory() ? join(into, basename(file)) : into
      cpSync(file, to, { recursive: true, filter: (path) => from !== undefined || isSent(path) })
    }
  }

  #stage(name: string): StageBuild {
    const stage = this.#earlier.get(name)
    if (stage === undefined) throw new Error(`The Dockerfile copies from ${name}, which is no stage above.`)
    return stage
  }

  #run(text: string): void {
    for (const step of text.split(' && ')) {
      if (step.startsWith('npm ci --omit=dev')) this.#shell(`${step} --prefer-offline`)
      else if (step.startsWith('npm ci '))
        symlinkSync(resolve('node_modules'), join(this.cwd, 'node_modules'))
      else if (step.startsWith('chown ') && process.getuid?.() !== 0) continue
      else this.#shell(step.replaceAll(/ (\/[\w/]+)/g, (_, path) => ` ${this.#inside(path)}`))
    }
  }

  #shell(command: string): void {
    const env = { ...PLAIN_ENV, ...this.env }
    execFileSync('/bin/sh', ['-c', command], { cwd: this.cwd, env, stdio: 'pipe' })
  }

  #set(text: string): void {
    for (const [name, value] of pairsOf(text))
      this.env[name] = value.startsWith('/') ? this.#inside(value) : value
  }

  #become(text: string): void {
    const [uid = Number.NaN, gid = Number.NaN] = text.split(':').map(Number)
    this.user = { uid, gid }
  }

  #inside(path: string): string {
    return path.startsWith('/') ? join(this.root, path) : join(this.cwd, path)
  }
}

const ignored = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ again: line.startsWith('!'), fits: picomatch(line.replace(/^!/, ''), { dot: true }) }))

/** Whether `.dockerignore` includes a file: the last line that matches it or a parent folder decides. */
function isSent(file: string): boolean {
  const path = relative('.', file)
  if (path === '') return true
  let sent = true
  for (const { again, fits } of ignored) {
    if (foldersOf(path).some((each) => fits(each))) sent = again
  }
  return sent
}

function foldersOf(path: string): string[] {
  return path === '.' ? [] : [path, ...foldersOf(dirname(path))]
}
