import { closeSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { pause } from '../stage.ts'

/** How an editor, or a person, brings a text into a file. Resolves when it is done with it. */
export type Save = (file: string, text: string) => Promise<void>

/** Much shorter than what the emulator waits for the rest of a half-saved file: three times 200 ms. */
const SHORT = 20
/** Longer. */
const LONG = 1_500

export const inPlace: Save = async (file, text) => writeFileSync(file, text)

export const byRenaming: Save = async (file, text) => {
  writeFileSync(`${file}~`, text)
  renameSync(`${file}~`, file)
}

/** The file is emptied, and filled a little later. */
export const emptiedFirst: Save = async (file, text) => {
  writeFileSync(file, '')
  await pause(SHORT)
  writeFileSync(file, text)
}

/** The first half, and a little later the second one. */
export const inHalves: Save = (file, text) => slowly(file, text, SHORT)

/** The same so slowly that the first half is taken for all there is. */
export const tooSlowly: Save = (file, text) => slowly(file, text, LONG)

async function slowly(file: string, text: string, ms: number): Promise<void> {
  const open = openSync(file, 'r+')
  try {
    ftruncateSync(open)
    const half = text.length >> 1
    const at = writeSync(open, text.slice(0, half), 0)
    await pause(ms)
    writeSync(open, text.slice(half), at)
  } finally {
    closeSync(open)
  }
}
