import { closeSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { pause } from '../stage.ts'

/** A way in which an editor writes a text to a file; resolves when it has finished. */
export type Save = (file: string, text: string) => Promise<void>

/** In milliseconds; much shorter than the 3 x 250 ms that the emulator waits for the rest of a half-saved file. */
const SHORT = 20
/** In milliseconds; longer than that. */
const LONG = 1_500

export const inPlace: Save = async (file, text) => writeFileSync(file, text)

export const byRenaming: Save = async (file, text) => {
  writeFileSync(`${file}~`, text)
  renameSync(`${file}~`, file)
}

export const emptiedFirst: Save = async (file, text) => {
  writeFileSync(file, '')
  await pause(SHORT)
  writeFileSync(file, text)
}

export const inHalves: Save = (file, text) => slowly(file, text, SHORT)

/** Writes so slowly that the emulator reads the first half as the whole file. */
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
