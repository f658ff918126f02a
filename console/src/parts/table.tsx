/** A table whose columns can be sorted, and which shows long lists a part at a time. */

import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { plural } from '../time.ts';
import { Icon } from './icon.tsx';

export interface Column<T> {
  readonly name: string;
  show(row: T): ComponentChildren;
  /** What it is sorted by; without it the column cannot be. */
  by?(row: T): string | number;
  /** The first click puts the greatest on top. */
  readonly startsDown?: boolean;
  /** In smaller letters where the screen is narrow. */
  readonly isMinor?: boolean;
  readonly isNumber?: boolean;
}

interface TableProps<T> {
  readonly caption: string;
  /** The first one names the row. */
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  keyOf(row: T): string;
  readonly most?: number;
  /** Scrolls in itself, with its head in sight. */
  readonly isTall?: boolean;
}

interface Order {
  readonly column: string;
  readonly isDown: boolean;
}

export function Table<T>({ caption, columns, rows, keyOf, most = 100, isTall = false }: TableProps<T>) {
  const [order, setOrder] = useState<Order>();
  const [shown, setShown] = useState(most);
  const sorted = useMemo(() => inOrder(rows, columns, order), [rows, columns, order]);
  const look = `table listing cards ${isTall ? 'scrolling' : ''}`;
  const classOf = ({ isMinor, isNumber }: Column<T>) =>
    `${isMinor ? 'minor' : ''} ${isNumber ? 'number' : ''}`;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class={look} tabIndex={0} aria-label={`${caption}, table`}>
        <table>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map(column => (
                <HeadCell
                  key={column.name}
                  column={column}
                  className={classOf(column)}
                  order={order}
                  onOrder={setOrder}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shown).map(row => (
              <tr key={keyOf(row)}>
                {columns.map((column, at) =>
                  at === 0 ? (
                    <th key={column.name} scope="row" class={classOf(column)}>
                      {column.show(row)}
                    </th>
                  ) : (
                    <td key={column.name} class={classOf(column)} data-label={column.name}>
                      {column.show(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + most)}>
          Show {plural(Math.min(most, rows.length - shown), 'more row')} of {rows.length}
        </button>
      )}
    </>
  );
}

interface HeadCellProps<T> {
  readonly column: Column<T>;
  readonly className: string;
  readonly order: Order | undefined;
  onOrder(order: Order): void;
}

function HeadCell<T>({ column, className, order, onOrder }: HeadCellProps<T>) {
  const { name, by, startsDown = false } = column;
  if (!by)
    return (
      <th scope="col" class={className}>
        {name}
      </th>
    );
  const mine = order?.column === name ? order : undefined;
  const isDown = mine ? !mine.isDown : startsDown;
  return (
    <th scope="col" class={className} aria-sort={mine ? (mine.isDown ? 'descending' : 'ascending') : 'none'}>
      <button type="button" class="sort" onClick={() => onOrder({ column: name, isDown })}>
        {name}
        <Icon name={(mine?.isDown ?? startsDown) ? 'down' : 'up'} />
      </button>
    </th>
  );
}

function inOrder<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  order: Order | undefined,
): readonly T[] {
  const by = columns.find(column => column.name === order?.column)?.by;
  if (!by) return rows;
  const sign = order?.isDown ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [by(a), by(b)];
    return sign * (typeof x === 'string' ? x.localeCompare(String(y)) : x - Number(y));
  });
}
