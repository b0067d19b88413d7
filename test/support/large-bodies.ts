/** A batch creation of exactly this many bytes, nearly all of them in the prompt. */
export function creationOf(bytes: number): Buffer {
  const [head, tail] = [
    '{"prompt":"',
    '","output_schema":{"type":"object"},"model":"m","items":[{"file_id":"file-1","custom_id":"x"}]}',
  ]
  return Buffer.from(head + 'x'.repeat(bytes - head.length - tail.length) + tail)
}
