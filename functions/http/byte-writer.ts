// Bytes written one after the other, into memory that doubles when it is full.

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1_024);
  #size = 0;

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  /** A view of all that was written; it is the writer's own memory. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  byte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#size] = byte;
    this.#size += 1;
  }

  write(bytes: Uint8Array): void {
    this.insert(this.#size, bytes);
  }

  /** As UTF-8. */
  text(text: string): void {
    this.#makeRoom(text.length * 3);
    this.#size += this.#bytes.write(text, this.#size);
  }

  /** Writes at `start`, and moves what stands there behind it. */
  insert(start: number, bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.copyWithin(start + bytes.length, start, this.#size);
    this.#bytes.set(bytes, start);
    this.#size += bytes.length;
  }

  #makeRoom(size: number): void {
    if (this.#size + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#size + size));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}
