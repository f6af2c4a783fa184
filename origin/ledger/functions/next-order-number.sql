-- order_number: the number of the p_count-th order, for people and support (shared/format.ts). It says nothing of
-- p_count to those without the key: a Feistel network of four rounds of SHA-256 maps one to one 30 bits, and from the
-- billionth order on the other numbers of 40 bits.
create or replace function order_number(p_count bigint,
  p_key bytea) returns bigint language plpgsql immutable strict as $$
declare
  c_few constant bigint := 1 << 30;
  v_half int := case when p_count < c_few then 15 else 20 end;
  v_mask int := (1 << v_half) - 1;
  v_number bigint := p_count;
  v_left int;
  v_right int;
  v_before int;
  v_hash bytea;
begin
  loop
    v_left := v_number >> v_half;
    v_right := v_number & v_mask;
    for v_round in 1..4 loop
      v_before := v_left;
      v_left := v_right;
      v_hash := sha256(p_key || int4send(v_round << v_half | v_right));
      v_right := v_before # (get_byte(v_hash, 0) << 16 | get_byte(v_hash, 1) << 8 | get_byte(v_hash, 2)) & v_mask;
    end loop;
    v_number := v_left::bigint << v_half | v_right;
    -- The numbers of 30 bits are those of the first orders: one of 40 bits is mapped again until it is none of them.
    exit when (v_number < c_few) = (p_count < c_few);
  end loop;
  return v_number;
end $$;

-- next_order_numbers: as many numbers of new orders. In plpgsql: a statement for all of them would take longer to
-- start than a few orders take to number.
create or replace function next_order_numbers(p_many int) returns bigint[] language plpgsql volatile as $$
declare
  v_key bytea;
  v_numbers bigint[] := '{}';
begin
  select uuid_send(k.key) into strict v_key from order_number_key k;
  for v_place in 1..p_many loop
    v_numbers[v_place] := order_number(nextval('orders_number_seq'), v_key);
  end loop;
  return v_numbers;
end $$;
