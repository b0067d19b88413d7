import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'

/** What a command said, how it ended, and how many milliseconds it took. */
export interface Finished {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly ms: number
}

/** Milliseconds for what takes seconds on a machine that has nothing else to do: a compiler, or npm. */
export const PATIENCE = 180_000

/** The environment of somebody who sits in front of an empty folder; npm leaves much of its own behind in ours. */
export const PLAIN_ENV = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_|INIT_CWD|NODE_|VITEST|TEST|WORKSPACE_|CI$|GITHUB_)/.test(name),
  ),
)

/** Runs a command to its end; an exit code other than 0 is a result too. */
export function run(
  cwd: string,
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const start = performance.now()
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env: { ...PLAIN_ENV, ...env }, maxBuffer: 2 ** 26 }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, out, err, ms: Math.round(performance.now() - start) })
    })
  })
}

/** Runs a command that must succeed. Throws with what it said otherwise. @returns its standard output */
export async function succeed(cwd: string, file: string, args: readonly string[]): Promise<Finished> {
  const finished = await run(cwd, file, args)
  if (finished.code !== 0) {
    throw new Error(
      `${[file, ...args].join(' ')}: exit code ${finished.code}\n${finished.out}${finished.err}`,
    )
  }
  return finished
}
