/** One damage of a file. */
export interface Damage {
  readonly file: string
  /** Offset of the first damaged byte. */
  readonly offset: number
  /** The flipped bit; undefined if the file was cut at the offset. */
  readonly bit?: number
}

/** Every cut of a file and every flipped bit; of all offsets only each `stride`-th. */
export function* damagesOf(file: string, size: number, stride: number): Generator<Damage> {
  for (let offset = 0; offset < size; offset += stride) yield { file, offset }
  for (let at = 0; at < size * 8; at += stride) yield { file, offset: at >> 3, bit: at & 7 }
}

/** The content with the damage applied. */
export function damaged(content: Buffer, { offset, bit }: Damage): Buffer {
  if (bit === undefined) return content.subarray(0, offset)
  const copy = Buffer.from(content)
  copy[offset] = (copy[offset] ?? 0) ^ (1 << bit)
  return copy
}

export function inWords({ file, offset, bit }: Damage): string {
  return bit === undefined
    ? `${file} cut at byte ${offset}`
    : `${file} with bit ${bit} of byte ${offset} flipped`
}
