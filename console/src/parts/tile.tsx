/** One number with its name. */

export function Tile({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'wrong' : ''}>{value}</dd>
    </div>
  );
}
