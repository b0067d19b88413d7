import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import type { Run } from './client.ts'

/** A place in the code of a client: the lines with the bug, and those that repair it. */
export interface Repair {
  readonly broken: readonly string[]
  readonly repaired: readonly string[]
}

const BLOCK = /^ *\/\/ Bug:\n([\s\S]*?)^ *\/\/ Repair:\n([\s\S]*?)^ *\/\/ End\.\n/gm

/** The places of a client that are wrong, with their repairs, which its code has as comments. */
export function repairsOf(name: string): Repair[] {
  return [...sourceOf(name).matchAll(BLOCK)].map(([, broken = '', repaired = '']) => ({
    broken: linesOf(broken),
    repaired: linesOf(uncommented(repaired)),
  }))
}

export async function repairedClient(name: string): Promise<Run> {
  const code = sourceOf(name).replace(BLOCK, (_block, _broken, repaired: string) => uncommented(repaired))
  const { code: script } = transformSync(code, { loader: 'ts', format: 'esm' })
  const module = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(script)}`)
  return (module as { run: Run }).run
}

function sourceOf(name: string): string {
  return readFileSync(new URL(`clients/${name}.ts`, import.meta.url), 'utf8')
}

function uncommented(text: string): string {
  return text.replace(/^( *)\/\/ /gm, '$1')
}

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1)
}
