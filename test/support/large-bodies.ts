/** A batch creation of exactly this many bytes, nearly all of them in the prompt. */
export function creationOf(bytes: number): Buffer {
  const [head, tail] = [
    '{"prompt":"',
    '","output_schema":{"type":"object"},"model":"m","items":[{"file_id":"file-1","custom_id":"x"}]}',
  ]
  return Buffer.from(head + 'x'.repeat(bytes - head.length - tail.length) + tail)
}

/** A batch creation with this many empty items: three tokens and three bytes each. */
export function crowdedWith(items: number): Buffer {
  return Buffer.from(
    `{"prompt":"p","output_schema":{"type":"object"},"model":"m","items":[${'{},'.repeat(items - 1)}{}]}`,
  )
}

/** A batch creation whose schema has this many levels, after a prompt of this many bytes. */
export function nestedTo(levels: number, prompt = 1): Buffer {
  const schema = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  return Buffer.from(`{"prompt":"${'x'.repeat(prompt)}","output_schema":${schema},"model":"m","items":[]}`)
}
