#include "host/surface/journal_tail.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "host/journal/journal_reader.hpp"
#include "host/surface/host.hpp"

namespace daybook {
namespace {

constexpr std::chrono::milliseconds kLook{200};
constexpr std::size_t kBatch = 500;

/// Day of a record's file, from its id: "main-20261019-000118".
DeskDate day_of(const JournalRecord& record) {
    const auto end = record.id.rfind('-');
    if (end == std::string::npos || end < 8) {
        return {};
    }
    const std::string digits = record.id.substr(end - 8, 8);
    auto day = DeskDate::parse(digits.substr(0, 4) + "-" + digits.substr(4, 2) + "-" +
                               digits.substr(6, 2));
    return day ? *day : DeskDate{};
}

/// Looks at where the journal's synced end is, and reads only when it has moved. The reply's hook
/// keeps it alive.
class JournalTail : public std::enable_shared_from_this<JournalTail> {
  public:
    JournalTail(Host& host,
                const Journal& journal,
                TailRequest request,
                std::shared_ptr<Reply> reply,
                std::shared_ptr<const void> owner)
        : host_(host),
          owner_(std::move(owner)),
          journal_(journal),
          request_(std::move(request)),
          reply_(std::move(reply)) {}

    Result<> begin() {
        const JournalReader reader = JournalReader::of(journal_);
        auto days = reader.days();
        if (!days) {
            return days.error();
        }
        std::vector<JournalRecord> newest;
        for (auto day = days->rbegin(); day != days->rend() && newest.size() < request_.last;
             ++day) {
            auto lines = reader.read_day(*day);
            if (!lines) {
                return lines.error();
            }
            if (day == days->rbegin() && !lines->records.empty()) {
                day_ = *day;
                seq_ = lines->records.back().seq;
            }
            std::erase_if(lines->records, [&](const JournalRecord& record) {
                return !is_wanted(record, request_.types);
            });
            newest.insert(newest.begin(), lines->records.begin(), lines->records.end());
        }
        if (day_ == DeskDate{} && !days->empty()) {
            day_ = days->back();
        }
        const std::size_t first = newest.size() > request_.last ? newest.size() - request_.last : 0;
        for (std::size_t i = first; i < newest.size(); ++i) {
            tell(newest[i]);
        }
        return {};
    }

    void follow() {
        reply_->on_gone([self = shared_from_this()] {});
        schedule();
    }

  private:
    void schedule() {
        if (reply_->is_over()) {
            return;
        }
        const std::weak_ptr<JournalTail> weak = weak_from_this();
        const std::lock_guard guard(mutex_);
        timer_ = host_.needs().loop.after(kLook, [weak, &host = host_] {
            const bool taken = host.worker().post([weak] {
                if (const auto self = weak.lock()) {
                    self->look();
                }
            });
            const auto self = taken ? nullptr : weak.lock();
            if (self) {  // too much to do just now: look later
                self->schedule();
            }
        });
    }

    void look() {
        const auto end = journal_.durable_end();
        const bool moved = end && (end->day > day_ || (end->day == day_ && end->seq > seq_));
        if (moved) {
            auto lines = JournalReader::of(journal_).read_since(day_, seq_, kBatch);
            if (!lines) {
                reply_->done(lines.error());
                return;
            }
            for (const JournalRecord& record : lines->records) {
                day_ = day_of(record);
                seq_ = record.seq;
                if (is_wanted(record, request_.types)) {
                    tell(record);
                }
            }
        }
        schedule();
    }

    void tell(const JournalRecord& record) {
        reply_->event(Json::object().set("event", "record").set("record", record_json(record)));
    }

    Host& host_;
    const std::shared_ptr<const void> owner_;
    const Journal& journal_;
    const TailRequest request_;
    std::shared_ptr<Reply> reply_;
    DeskDate day_{};  // of the newest line told; only the worker looks at it
    std::uint64_t seq_ = 0;
    std::mutex mutex_;  // guards timer_
    std::unique_ptr<Watch> timer_;
};

}  // namespace

Json record_json(const JournalRecord& record) {
    auto line = record.to_line();
    if (line) {
        if (auto json = Json::parse(*line)) {
            return std::move(*json);
        }
    }
    return Json::object().set("id", record.id).set("type", record.entry.type);
}

bool is_wanted(const JournalRecord& record, const std::vector<std::string>& types) {
    return types.empty() || std::find(types.begin(), types.end(), record.entry.type) != types.end();
}

void follow_journal(Host& host,
                    const Journal& journal,
                    TailRequest request,
                    const std::shared_ptr<Reply>& reply,
                    std::shared_ptr<const void> owner) {
    const bool follow = request.follow;
    const auto tail =
        std::make_shared<JournalTail>(host, journal, std::move(request), reply, std::move(owner));
    auto begun = tail->begin();
    if (!begun) {
        reply->done(begun.error());
    } else if (follow) {
        tail->follow();
    } else {
        reply->done(Json::object());
    }
}

}  // namespace daybook
